internal import KCAgeEncryption
internal import KCByteStreams
internal import KCConsole
internal import KCFileProtection
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

extension ProtectIdentityCommand {
    func perform(in session: Session) throws -> ExitStatus {
        let output = try newFile.path()
        if let output { try session.requireFolder(ofKeyFile: output) }
        let place = try `class`.place(keychain, in: session)
        let identity = try place.identity(keychain.passcode, in: session.context)
        let holder = place.keychain.map { "class \(`class`) of keychain \(quoted($0.name))" } ?? "this device"
        let text = identity.file(comments: ["key of \(holder)"])
        if let output {
            try PrivateFile.create(session.machine.resolve(output), text.utf8.span, anywhere: true)
            session.done = "\(displayed(output)): the identity of \(identity.recipient)"
        }
        try session.result(
            .members([
                ("identity", .text(identity.description)), ("recipient", .text(identity.recipient.description)),
                ("class", .text(`class`.description)), ("path", output.map { .text($0) }),
            ]), output == nil ? [text] : [])
        if !style.json, output != nil || !session.world.terminal.showsOutput {
            session.message("Public key: \(identity.recipient)\n")
        }
        return .ok
    }
}
