internal import KCBackupTasks
internal import KCReportText
package import KCSecretService

/// Explains a failure of the Secret Service.
package func explainSecretService(_ failure: SecretServiceFailure) -> Explanation {
    switch failure {
    case .libraryMissing(let missing):
        Explanation(
            .locked,
            "libsecret, which talks to the desktop keyring, cannot be loaded: \(quoted(missing)) is missing",
            hint: "'apt install libsecret-1-0' installs it")
    case .noBus(let paths):
        Explanation(
            .locked,
            "there is no session bus: no user is logged in to a desktop"
                + (paths.isEmpty ? "" : " (looked at \(paths.map { quoted($0) }.joined(separator: ", ")))"),
            hint: "log in to the desktop; a job with its keyring can run only while its user is logged in",
            "set 'DBUS_SESSION_BUS_ADDRESS' if the bus is elsewhere")
    case .foreignBus(let path, let owner):
        Explanation(
            .refused, "the session bus \(quoted(path)) belongs to user \(owner), who could read what is restored",
            hint: "run kcbackup as that user, without sudo")
    case .notASocket(let path):
        Explanation(
            .refused, "\(quoted(path)) should be the socket of the session bus, and is something else",
            hint: "set 'DBUS_SESSION_BUS_ADDRESS' to the address of the bus")
    case .busRefuses(let address, let reason):
        Explanation(
            .locked, "the session bus at \(quoted(address)) cannot be reached: \(quoted(reason))",
            hint: "log in to the desktop again, or set 'DBUS_SESSION_BUS_ADDRESS' to the address of the bus",
            "without that variable, the bus is looked for in '/run/user'")
    case .busSilent(let address):
        Explanation(
            .locked, "the session bus at \(quoted(address)) does not answer",
            hint: "log in to the desktop again, or set 'DBUS_SESSION_BUS_ADDRESS' to the address of another bus")
    case .busElsewhere(let address):
        Explanation(
            .refused, "nothing shows whose session bus is at \(quoted(address)): it is not a socket of this machine",
            hint: "set 'DBUS_SESSION_BUS_ADDRESS' to one, as in 'unix:path=/run/user/1000/bus'")
    case .noService:
        Explanation(
            .locked, "no Secret Service runs on the session bus, and none can be started",
            hint: "install 'gnome-keyring', or switch it on in KeePassXC or KWallet; 'secret-service.md' in the "
                + "documentation says how")
    case .serviceDoesNotStart(let reason):
        Explanation(
            .locked, "the session bus could not start the Secret Service: \(quoted(reason))",
            hint: "log in to the desktop, which starts it")
    case .serviceEnded:
        Explanation(.locked, "the Secret Service ended while it was in use", hint: "run the command again")
    case .noAnswer:
        Explanation(
            .locked, "the Secret Service does not answer", hint: "check the desktop for a prompt of the service")
    case .sessionNotEncrypted:
        Explanation(
            .refused, "the Secret Service offers no encrypted session; secrets are not sent in the clear",
            hint: "update it; for KWallet, 'apt install libqca-qt5-2-plugins'")
    case .locked(let labels):
        locked(labels).adding(["'create' and 'inspect' leave it out with '\(OptionName.skipLocked.spelling)'"])
    case .somethingLocked: locked([])
    case .lockedTarget(let labels): locked(labels)
    case .changedMeanwhile:
        Explanation(
            .busy, "the desktop keyring was changed since the items were shown; nothing was written",
            hint: "run the command again")
    case .noCollection(let name):
        Explanation(
            .notFound, "the Secret Service has no collection \(quoted(name))",
            hint: "'\(OptionName.keychain.spelling) secret-service:' means all of them")
    case .noCollections:
        Explanation(
            .locked, "the Secret Service has no collection, so there is nothing to back up",
            hint: "a session without the user's keyring, as one over ssh, may start an empty one: log in to the "
                + "desktop",
            "if the keyring is new, save a first password in it")
    case .severalCollections(let name):
        Explanation(
            .notFound, "the Secret Service has several collections \(quoted(name))",
            hint: "rename one of them on the desktop, or take all: '\(OptionName.keychain.spelling) secret-service:'")
    case .noDefaultCollection:
        Explanation(
            .notFound, "the Secret Service has no default collection for items that come from elsewhere",
            hint: "'\(OptionName.keychain.spelling) secret-service:LABEL' names one")
    case .collectionMissing(let label):
        Explanation(
            .locked, "collection \(quoted(label)) does not exist yet, and a new one needs a password",
            remedies: [
                Remedy("make it on the desktop"),
                .desktopPrompt("'\(OptionName.unlock.spelling)' lets the desktop ask for it"),
                .passcode("'\(OptionName.passcode.spelling) SOURCE' gives it to GNOME Keyring"),
            ])
    case .passwordNotTaken:
        Explanation(
            .locked, "this Secret Service accepts passwords only in its own prompt",
            remedies: [
                .desktopPrompt("use '\(OptionName.unlock.spelling)' instead of '\(OptionName.passcode.spelling)'")
            ])
    case .wrongPassword(let label):
        Explanation(.wrongKey, "that is not the password of collection \(quoted(label))")
    case .promptDismissed:
        Explanation(
            .locked, "the prompt of the desktop was closed without a password",
            remedies: [
                Remedy(
                    "where no desktop can show it, as over ssh, it closes at once: unlock the keyring on the desktop"),
                .passcode("'\(OptionName.passcode.spelling) SOURCE' opens it with its password, in GNOME Keyring"),
            ])
    case .asksFirst(let request):
        Explanation(
            .locked, "\(request.rawValue): the Secret Service requires a prompt, and no user can answer it",
            remedies: [.desktopPrompt("'\(OptionName.unlock.spelling)' lets it ask on the desktop")])
    case .notDone(let request):
        Explanation(
            .io, "\(request.rawValue): the Secret Service did not do it, and gives no reason",
            hint: "check the desktop for a prompt of the service, and run the command again")
    case .notSent(let request, let reason):
        Explanation(.io, "\(request.rawValue): the request could not be sent: \(quoted(reason))")
    case .request(let request, let name, let message):
        Explanation(
            .io,
            "\(request.rawValue): the Secret Service refuses: \(quoted(message))"
                + (name.isEmpty ? "" : " (\(quoted(name)))"))
    case .malformed(let request):
        Explanation(
            .damaged, "\(request.rawValue): the Secret Service returned an answer that its interface does not define")
    case .interrupted: explainInterruption()
    }
}

private func locked(_ labels: [String]) -> Explanation {
    let areSeveral = labels.count > 1
    return Explanation(
        .locked,
        labels.isEmpty
            ? "the desktop keyring is locked"
            : "\(areSeveral ? "collections" : "collection") "
                + "\(labels.map { quoted($0) }.joined(separator: ", ")) of the Secret Service "
                + "\(areSeveral ? "are" : "is") locked",
        remedies: [
            Remedy("unlock \(areSeveral ? "them" : "it") on the desktop"),
            .desktopPrompt("'\(OptionName.unlock.spelling)' lets the desktop ask for the password"),
            .passcode("'\(OptionName.passcode.spelling) SOURCE' opens it with its password, in GNOME Keyring"),
        ])
}

/// Explains a failure after something may have been written to the desktop keyring or the home, at least `written` items.
package func explainBrokenOff(_ failure: Failure, written: Int) -> Explanation {
    // Many more may be there than the service has confirmed, so a number would say too little.
    let when = written == 0 ? "while the first items were written" : "after some items were written"
    guard failure == .secretService(.interrupted) else {
        return failure.explanation.prefixed(when + ": ").adding([staying])
    }
    return Explanation(explainInterruption().status, "interrupted " + when, hint: staying)
}

private let staying =
    "what was written stays, since there are no transactions there: run the command again to finish it, or see with "
    + "'kcbackup undo --dry-run' what it wrote"
