#if Sites
/// The page that states the effect of a command before the operator confirms the command.
struct ConfirmView: Sendable {
  let run: String
  let campaign: String
  let effect: CommandEffect
  let devices: [String]
  /// Whether the run has changed since the effect was shown.
  var hasChanged = false
  /// The message about an error in the previous input.
  var mistake: String?
  var reason = ""

  static let reasonMaximum = 500

  func page(for user: PageUser) -> HTML {
    let path = "/runs/" + Address.encoded(run)
    let sentences = effect.sentences.map { sentence -> HTML in "<li>\(sentence)</li>\n" }
    let changed: HTML =
      hasChanged
      ? """
      <p class="notice" role="alert">The run has changed since the effect was shown. Read the new \
      effect, then confirm again.</p>

      """ : ""
    let problem: HTML =
      mistake.map { "<p class=\"notice\" role=\"alert\" id=\"mistake\">\($0)</p>\n" } ?? ""
    let hidden = devices.map { device -> HTML in
      "<input type=\"hidden\" name=\"device\" value=\"\(device)\">\n"
    }
    let invalid: HTML =
      mistake == nil ? "" : " aria-invalid=\"true\" aria-describedby=\"mistake\""
    return PageFrame(title: effect.action.label, section: .runs, user: user).page(
      """
      <p class="kicker">Run \(cut: run) of <bdi>\(cut: campaign)</bdi></p>
      <h1>\(effect.action.label)?</h1>
      \(changed)\(problem)<section aria-labelledby="effect"><h2 id="effect">Effect</h2>
      <ul class="effect">
      \(sentences)</ul></section>
      <form method="post" action="\(path)/\(effect.action.rawValue)" class="stack">
      <input type="hidden" name="\(FormCheck.fieldName)" value="\(user.session?.formToken ?? "")">
      <input type="hidden" name="state" value="\(effect.fingerprint)">
      \(hidden)<label for="reason">Reason, for the record of the run</label>
      <input id="reason" name="reason" type="text" maxlength="\(Self.reasonMaximum)" \
      value="\(reason)" required autocomplete="off"\(invalid)>
      <p class="small">The run records your account, \(user.account), and the reason.</p>
      <div class="choice"><button class="button \(effect.action.rawValue)">\
      \(effect.action.label)</button>
      <a href="\(path)">Back without a change</a></div>
      </form>

      """)
  }
}
#endif
