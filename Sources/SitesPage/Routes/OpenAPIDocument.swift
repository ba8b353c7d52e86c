#if Sites
/// The description of the API: OpenAPI 3.1 (spec.openapis.org/oas/v3.1.0). A test compares the
/// paths in this document with the routes.
enum OpenAPIDocument {
  static let text =
    "{\(head),\n\"paths\": {\(sites),\n\(runs),\n\(devices)},\n\(OpenAPISchemas.text)}\n"

  private static let head = #"""

    "openapi": "3.1.0",
    "info": {
      "title": "otaflash coordinator", "version": "1",
      "description": "Campaigns over many sites. The members are named as in the JSON Lines output."
    },
    "servers": [{ "url": "/api/v1" }],
    "security": [{ "token": [] }]
    """#

  private static let sites = #"""

      "/account": { "get": {
        "operationId": "account", "summary": "The account of the token",
        "responses": { "200": { "description": "The account", "content": { "application/json": {
          "schema": { "$ref": "#/components/schemas/account" } } } },
          "401": { "$ref": "#/components/responses/unauthenticated" } }
      } },
      "/gateways": { "get": {
        "operationId": "gateways", "summary": "The gateways with their last reports",
        "responses": { "200": { "description": "The gateways", "content": { "application/json": {
          "schema": { "type": "object", "required": ["gateways"], "properties": {
            "gateways": { "type": "array", "items": { "$ref": "#/components/schemas/gateway" } }
          } } } } },
          "401": { "$ref": "#/components/responses/unauthenticated" },
          "503": { "$ref": "#/components/responses/unavailable" } }
      } },
      "/transfers": { "get": {
        "operationId": "transfers", "summary": "The transfers in progress",
        "responses": { "200": { "description": "The transfers", "content": { "application/json": {
          "schema": { "type": "object", "required": ["transfers"], "properties": {
            "transfers": { "type": "array", "items": { "$ref": "#/components/schemas/transfer" } }
          } } } } },
          "401": { "$ref": "#/components/responses/unauthenticated" },
          "503": { "$ref": "#/components/responses/unavailable" } }
      } }
    """#

  private static let runs = #"""

      "/runs": {
        "get": {
          "operationId": "runs", "summary": "The runs, the newest first",
          "parameters": [{ "$ref": "#/components/parameters/page" },
            { "$ref": "#/components/parameters/size" }],
          "responses": { "200": { "description": "A page of runs",
            "content": { "application/json": { "schema": { "allOf": [
              { "$ref": "#/components/schemas/table" },
              { "type": "object", "required": ["runs"], "properties": { "runs": { "type": "array",
                "items": { "$ref": "#/components/schemas/runEntry" } } } }] } } } },
            "400": { "$ref": "#/components/responses/badRequest" },
            "401": { "$ref": "#/components/responses/unauthenticated" } }
        },
        "post": {
          "operationId": "submit",
          "summary": "Checks a campaign with its files, and starts its run (operator)",
          "requestBody": { "required": true, "content": { "multipart/form-data": {
            "schema": { "type": "object", "required": ["campaign"], "properties": {
              "campaign": { "type": "string", "format": "binary",
                "description": "The campaign file (YAML)." },
              "files": { "type": "array", "items": { "type": "string", "format": "binary" },
                "description": "Images, device tables and keys, with the names in the campaign." }
            } } } } },
          "responses": { "201": { "description": "The run",
            "headers": { "Location": { "schema": { "type": "string" } } },
            "content": { "application/json": { "schema": { "type": "object",
              "required": ["run"], "properties": { "run": { "type": "string" } } } } } },
            "400": { "$ref": "#/components/responses/badRequest" },
            "401": { "$ref": "#/components/responses/unauthenticated" },
            "403": { "$ref": "#/components/responses/forbidden" },
            "409": { "$ref": "#/components/responses/refused" },
            "413": { "$ref": "#/components/responses/tooLarge" },
            "415": { "$ref": "#/components/responses/unsupportedType" },
            "422": { "$ref": "#/components/responses/invalid" },
            "503": { "$ref": "#/components/responses/unavailable" } }
        }
      },
      "/runs/{run}": { "get": {
        "operationId": "run", "summary": "The state of a run",
        "parameters": [{ "$ref": "#/components/parameters/run" }],
        "responses": { "200": { "description": "The run", "content": { "application/json": {
          "schema": { "$ref": "#/components/schemas/run" } } } },
          "400": { "$ref": "#/components/responses/badRequest" },
          "401": { "$ref": "#/components/responses/unauthenticated" },
          "404": { "$ref": "#/components/responses/notFound" } }
      } },
      "/runs/{run}/devices": { "get": {
        "operationId": "runDevices", "summary": "The devices of a run",
        "parameters": [{ "$ref": "#/components/parameters/run" },
          { "$ref": "#/components/parameters/q" }, { "$ref": "#/components/parameters/site" },
          { "$ref": "#/components/parameters/board" },
          { "name": "outcome", "in": "query",
            "schema": { "$ref": "#/components/schemas/outcome" } },
          { "name": "wave", "in": "query", "description": "The number of the wave, from 1.",
            "schema": { "type": "integer", "minimum": 1, "maximum": 100 } },
          { "name": "sort", "in": "query", "schema": { "enum": ["name", "device", "wave", "site",
            "board", "outcome", "attempts", "settled"], "default": "name" } },
          { "$ref": "#/components/parameters/order" }, { "$ref": "#/components/parameters/page" },
          { "$ref": "#/components/parameters/size" }],
        "responses": { "200": { "description": "A page of devices",
          "content": { "application/json": { "schema": { "allOf": [
            { "$ref": "#/components/schemas/table" },
            { "type": "object", "required": ["devices"], "properties": { "devices": {
              "type": "array", "items": { "$ref": "#/components/schemas/runDevice" } } } }] } } } },
          "400": { "$ref": "#/components/responses/badRequest" },
          "401": { "$ref": "#/components/responses/unauthenticated" },
          "404": { "$ref": "#/components/responses/notFound" } }
      } },
      "/runs/{run}/devices/{device}": { "get": {
        "operationId": "runDevice", "summary": "A device of a run, with its attempts",
        "parameters": [{ "$ref": "#/components/parameters/run" },
          { "$ref": "#/components/parameters/device" }],
        "responses": { "200": { "description": "The device", "content": { "application/json": {
          "schema": { "$ref": "#/components/schemas/runDevice" } } } },
          "400": { "$ref": "#/components/responses/badRequest" },
          "401": { "$ref": "#/components/responses/unauthenticated" },
          "404": { "$ref": "#/components/responses/notFound" } }
      } },
      "/runs/{run}/report": { "get": {
        "operationId": "report", "summary": "The report of a run",
        "parameters": [{ "$ref": "#/components/parameters/run" },
          { "name": "format", "in": "query", "schema": {
            "enum": ["html", "csv", "junit", "prometheus"], "default": "html" } }],
        "responses": { "200": { "description": "The report", "content": {
          "text/html": { "schema": { "type": "string" } },
          "text/csv": { "schema": { "type": "string" } },
          "application/xml": { "schema": { "type": "string" } },
          "text/plain": { "schema": { "type": "string" } } } },
          "400": { "$ref": "#/components/responses/badRequest" },
          "401": { "$ref": "#/components/responses/unauthenticated" },
          "404": { "$ref": "#/components/responses/notFound" } }
      } },
      "/runs/{run}/commands": { "post": {
        "operationId": "command",
        "summary": "Gives a command to a run, and waits for its execution (operator)",
        "description": "The run records the account and the reason.",
        "parameters": [{ "$ref": "#/components/parameters/run" }],
        "requestBody": { "required": true, "content": { "application/json": {
          "schema": { "$ref": "#/components/schemas/command" } } } },
        "responses": { "200": { "description": "The record of the command",
          "content": { "application/json": {
            "schema": { "$ref": "#/components/schemas/commandRecord" } } } },
          "400": { "$ref": "#/components/responses/badRequest" },
          "401": { "$ref": "#/components/responses/unauthenticated" },
          "403": { "$ref": "#/components/responses/forbidden" },
          "404": { "$ref": "#/components/responses/notFound" },
          "409": { "$ref": "#/components/responses/refused" },
          "413": { "$ref": "#/components/responses/tooLarge" },
          "415": { "$ref": "#/components/responses/unsupportedType" },
          "422": { "$ref": "#/components/responses/invalid" },
          "504": { "$ref": "#/components/responses/unanswered" } }
      } }
    """#

  private static let devices = #"""

      "/devices": { "get": {
        "operationId": "devices", "summary": "The devices of all runs",
        "parameters": [{ "$ref": "#/components/parameters/q" },
          { "$ref": "#/components/parameters/site" }, { "$ref": "#/components/parameters/board" },
          { "name": "version", "in": "query", "description": "1.3.0, for example, or unknown.",
            "schema": { "type": "string" } },
          { "name": "sort", "in": "query", "schema": { "enum": ["name", "device", "site", "board",
            "version", "last"], "default": "name" } },
          { "$ref": "#/components/parameters/order" }, { "$ref": "#/components/parameters/page" },
          { "$ref": "#/components/parameters/size" }],
        "responses": { "200": { "description": "A page of devices",
          "content": { "application/json": { "schema": { "allOf": [
            { "$ref": "#/components/schemas/table" },
            { "type": "object", "required": ["devices", "complete"], "properties": {
              "devices": { "type": "array", "items": { "$ref": "#/components/schemas/device" } },
              "complete": { "type": "boolean",
                "description": "Whether all stored runs are included." } } }] } } } },
          "400": { "$ref": "#/components/responses/badRequest" },
          "401": { "$ref": "#/components/responses/unauthenticated" } }
      } },
      "/devices/{device}": { "get": {
        "operationId": "device", "summary": "A device with its runs",
        "parameters": [{ "$ref": "#/components/parameters/device" }],
        "responses": { "200": { "description": "The device", "content": { "application/json": {
          "schema": { "$ref": "#/components/schemas/device" } } } },
          "400": { "$ref": "#/components/responses/badRequest" },
          "401": { "$ref": "#/components/responses/unauthenticated" },
          "404": { "$ref": "#/components/responses/notFound" } }
      } },
      "/versions": { "get": {
        "operationId": "versions", "summary": "The number of devices by board and version",
        "responses": { "200": { "description": "The groups", "content": { "application/json": {
          "schema": { "type": "object", "required": ["versions"], "properties": {
            "versions": { "type": "array", "items": { "type": "object", "required": ["devices"],
              "properties": { "board": { "type": "string" }, "version": { "type": "string" },
                "devices": { "type": "integer", "minimum": 1 } } } } } } } } },
          "401": { "$ref": "#/components/responses/unauthenticated" } }
      } }
    """#
}
#endif
