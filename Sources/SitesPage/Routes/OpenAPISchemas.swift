#if Sites
/// The components of the OpenAPI document.
enum OpenAPISchemas {
  static let text =
    "\"components\": {\(security),\n\(parameters),\n\(responses),\n"
    + "\"schemas\": {\(schemas),\n\(runs)}}"

  private static let security = #"""

      "securitySchemes": { "token": { "type": "http", "scheme": "bearer",
        "description": "A token of an account." } }
    """#

  private static let parameters = #"""

      "parameters": {
        "run": { "name": "run", "in": "path", "required": true,
          "schema": { "type": "string", "minLength": 1 } },
        "device": { "name": "device", "in": "path", "required": true,
          "schema": { "type": "string", "minLength": 1 } },
        "q": { "name": "q", "in": "query", "description": "Part of a name or id, in any case.",
          "schema": { "type": "string", "maxLength": 100 } },
        "site": { "name": "site", "in": "query", "schema": { "type": "string" } },
        "board": { "name": "board", "in": "query", "schema": { "type": "string" } },
        "order": { "name": "order", "in": "query",
          "schema": { "enum": ["asc", "desc"], "default": "asc" } },
        "page": { "name": "page", "in": "query",
          "description": "If the page does not exist, the last page is returned.",
          "schema": { "type": "integer", "minimum": 1, "maximum": 1000000, "default": 1 } },
        "size": { "name": "size", "in": "query",
          "schema": { "type": "integer", "minimum": 1, "maximum": 200, "default": 50 } }
      }
    """#

  private static let responses = #"""

      "responses": {
        "badRequest": { "description": "A value is not valid", "content": { "application/json": {
          "schema": { "$ref": "#/components/schemas/error" } } } },
        "unauthenticated": { "description": "The token is missing or not valid",
          "content": { "application/json": {
            "schema": { "$ref": "#/components/schemas/error" } } } },
        "forbidden": { "description": "The account does not have the required role",
          "content": { "application/json": {
            "schema": { "$ref": "#/components/schemas/error" } } } },
        "notFound": { "description": "There is no such run or device",
          "content": { "application/json": {
            "schema": { "$ref": "#/components/schemas/error" } } } },
        "refused": { "description": "Not possible in the current state of the run",
          "content": { "application/json": {
            "schema": { "$ref": "#/components/schemas/error" } } } },
        "tooLarge": { "description": "The body is too large", "content": { "application/json": {
          "schema": { "$ref": "#/components/schemas/error" } } } },
        "unsupportedType": { "description": "The content type is not supported",
          "content": { "application/json": {
            "schema": { "$ref": "#/components/schemas/error" } } } },
        "invalid": { "description": "The campaign or the reason is not valid",
          "content": { "application/json": {
            "schema": { "$ref": "#/components/schemas/error" } } } },
        "unavailable": { "description": "The message broker is not available",
          "content": { "application/json": {
            "schema": { "$ref": "#/components/schemas/error" } } } },
        "unanswered": { "description": "The command was stored, but not executed in time",
          "content": { "application/json": {
            "schema": { "$ref": "#/components/schemas/error" } } } }
      }
    """#

  private static let schemas = #"""

        "error": { "type": "object", "required": ["error", "words"], "properties": {
          "error": { "type": "string", "description": "An identifier, such as refused." },
          "words": { "type": "string", "description": "The reason, as a clause." },
          "details": { "type": "array", "items": { "type": "string" } } } },
        "time": { "type": "string", "format": "date-time" },
        "count": { "type": "integer", "minimum": 0 },
        "outcome": { "enum": ["succeeded", "failed", "unseen", "neutral", "running", "waiting",
          "leftOut"] },
        "action": { "enum": ["approve", "resume", "pause", "retry", "cancel"] },
        "table": { "type": "object", "required": ["total", "page", "pages", "size"],
          "properties": { "total": { "$ref": "#/components/schemas/count" },
            "page": { "$ref": "#/components/schemas/count" },
            "pages": { "$ref": "#/components/schemas/count" },
            "size": { "$ref": "#/components/schemas/count" } } },
        "account": { "type": "object", "required": ["account", "role"], "properties": {
          "account": { "type": "string" },
          "role": { "enum": ["viewer", "operator", "admin"] } } },
        "job": { "type": "object", "required": ["run", "device", "attempt"], "properties": {
          "run": { "type": "string" }, "device": { "type": "string" },
          "attempt": { "$ref": "#/components/schemas/count" } } },
        "gateway": { "type": "object", "required": ["site", "gateway", "version", "adapters",
          "last_report", "running", "jobs"], "properties": {
          "site": { "type": "string" }, "gateway": { "type": "string" },
          "version": { "type": "string" },
          "adapters": { "type": "array", "items": { "type": "string" } },
          "last_report": { "$ref": "#/components/schemas/time" },
          "running": { "type": "boolean" },
          "jobs": { "type": "array", "items": { "$ref": "#/components/schemas/job" } } } },
        "transfer": { "allOf": [{ "$ref": "#/components/schemas/job" },
          { "type": "object", "required": ["done", "total", "at"], "properties": {
            "done": { "$ref": "#/components/schemas/count",
              "description": "The acknowledged bytes." },
            "total": { "$ref": "#/components/schemas/count" },
            "at": { "$ref": "#/components/schemas/time" } } }] },
        "command": { "type": "object", "required": ["action", "reason"], "properties": {
          "action": { "$ref": "#/components/schemas/action" },
          "reason": { "type": "string", "description": "The reason in one line, for the record.",
            "pattern": "\#(reasonPattern)" },
          "devices": { "type": "array", "maxItems": 100, "items": { "type": "string" },
            "description": "The devices of retry, by id or name; default: all without success." } }
          },
        "commandRecord": { "type": "object", "required": ["run", "action", "by", "reason"],
          "properties": { "run": { "type": "string" },
            "action": { "$ref": "#/components/schemas/action" }, "by": { "type": "string" },
            "reason": { "type": "string" } } },
        "device": { "type": "object", "required": ["device"], "properties": {
          "device": { "type": "string" }, "name": { "type": "string" },
          "board": { "type": "string" }, "site": { "type": "string" },
          "version": { "type": "string" },
          "last": { "$ref": "#/components/schemas/deviceRun" },
          "runs": { "type": "array", "items": { "$ref": "#/components/schemas/deviceRun" } } } },
        "deviceRun": { "type": "object", "required": ["run", "campaign", "began", "outcome",
          "words", "attempts"], "properties": {
          "run": { "type": "string" }, "campaign": { "type": "string" },
          "began": { "$ref": "#/components/schemas/time" },
          "outcome": { "$ref": "#/components/schemas/outcome" }, "words": { "type": "string" },
          "from": { "type": "string" }, "to": { "type": "string" },
          "attempts": { "$ref": "#/components/schemas/count" },
          "cause_words": { "type": "string" },
          "settled": { "$ref": "#/components/schemas/time" } } }
    """#

  private static let runs = #"""

        "runEntry": { "type": "object", "required": ["run", "campaign", "began", "state", "events",
          "ended", "worked_on", "needs_operator"], "properties": {
          "run": { "type": "string" }, "campaign": { "type": "string" },
          "began": { "$ref": "#/components/schemas/time" }, "state": { "type": "string" },
          "events": { "$ref": "#/components/schemas/count" }, "ended": { "type": "boolean" },
          "worked_on": { "type": "boolean" }, "needs_operator": { "type": "boolean" } } },
        "wave": { "type": "object", "required": ["wave", "name", "devices", "succeeded", "failed",
          "absent", "left_out"], "properties": {
          "wave": { "$ref": "#/components/schemas/count" }, "name": { "type": "string" },
          "devices": { "$ref": "#/components/schemas/count" },
          "succeeded": { "$ref": "#/components/schemas/count" },
          "failed": { "$ref": "#/components/schemas/count" },
          "absent": { "$ref": "#/components/schemas/count" },
          "left_out": { "$ref": "#/components/schemas/count" },
          "verdict": { "enum": ["continue", "stop", "inconclusive"] } } },
        "wait": { "type": "object", "required": ["reason", "devices", "words"], "properties": {
          "reason": { "enum": ["window", "soak", "retry", "approval", "paused", "no-adapter",
            "hook", "no-free-place"] },
          "until": { "$ref": "#/components/schemas/time" },
          "devices": { "$ref": "#/components/schemas/count" }, "site": { "type": "string" },
          "wave": { "$ref": "#/components/schemas/count" }, "hook": { "type": "string" },
          "words": { "type": "string" } } },
        "run": { "allOf": [{ "$ref": "#/components/schemas/runEntry" },
          { "type": "object", "required": ["devices", "settled", "running", "waves", "waits",
            "operators", "actions"], "properties": {
            "started_by": { "type": "string" },
            "devices": { "$ref": "#/components/schemas/count" },
            "settled": { "$ref": "#/components/schemas/count" },
            "running": { "$ref": "#/components/schemas/count" },
            "waves": { "type": "array", "items": { "$ref": "#/components/schemas/wave" } },
            "waits": { "type": "array", "items": { "$ref": "#/components/schemas/wait" } },
            "operators": { "type": "array", "items": { "type": "object",
              "required": ["at", "action", "by"], "properties": {
                "at": { "$ref": "#/components/schemas/time" },
                "action": { "$ref": "#/components/schemas/action" }, "by": { "type": "string" },
                "reason": { "type": "string" } } } },
            "actions": { "type": "array",
              "description": "The commands that are possible now.",
              "items": { "$ref": "#/components/schemas/action" } } } }] },
        "runDevice": { "type": "object", "required": ["device", "wave", "outcome", "words",
          "attempts"], "properties": {
          "device": { "type": "string" }, "name": { "type": "string" },
          "board": { "type": "string" }, "site": { "type": "string" },
          "wave": { "type": "string" },
          "outcome": { "$ref": "#/components/schemas/outcome" }, "words": { "type": "string" },
          "from": { "type": "string" }, "to": { "type": "string" },
          "proof": { "type": "string" }, "verification": { "type": "string" },
          "attempts": { "$ref": "#/components/schemas/count" },
          "adapter": { "type": "string" }, "cause": { "type": "string" },
          "cause_words": { "type": "string" },
          "octets": { "$ref": "#/components/schemas/count" },
          "upload_ms": { "$ref": "#/components/schemas/count" },
          "resumes": { "$ref": "#/components/schemas/count" },
          "first_attempt": { "$ref": "#/components/schemas/time" },
          "settled": { "$ref": "#/components/schemas/time" },
          "attempt_list": { "type": "array", "items": { "type": "object",
            "required": ["attempt", "worker", "began", "words"], "properties": {
              "attempt": { "$ref": "#/components/schemas/count" },
              "worker": { "type": "string" }, "adapter": { "type": "string" },
              "began": { "$ref": "#/components/schemas/time" },
              "ended": { "$ref": "#/components/schemas/time" },
              "words": { "type": "string" } } } } } }
    """#

  /// The pattern of a reason: 1 to 500 characters without control characters, line breaks and
  /// changes of the text direction, and without a leading space.
  private static let reasonPattern =
    #"^[^\\s\#(hidden)][^\#(hidden)]{0,499}$"#
  private static let hidden =
    #"\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029\\u061c\\u200e\\u200f"#
    + #"\\u202a-\\u202e\\u2066-\\u2069"#
}
#endif
