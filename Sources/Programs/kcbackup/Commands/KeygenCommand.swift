internal import ArgumentParser
internal import KCAgeEncryption
internal import KCByteStreams
internal import KCConsole
internal import KCKeychainModel
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// `kcbackup keygen`: generates an age identity.
struct KeygenCommand: Verb {
    static let mainOptions: [OptionName] = [.output, .postQuantum]

    static let configuration = CommandConfiguration(
        commandName: "keygen",
        abstract: "Make an age identity file, and print its public key.",
        discussion: """
            The public key (the recipient, age1…) goes to 'kcbackup create -r'; the identity opens what was encrypted \
            to it. Do not keep the identity beside the archives.

            With '--post-quantum' the key is one that a quantum computer does not break either, age1pq1…, of 1,959 \
            characters: put it into a file, and pass that with '-R'. All other public keys of an archive must then be \
            post-quantum too. Without kcbackup, age 1.3 or newer opens such an archive.

            EXAMPLES:
              kcbackup keygen -o restore-key.txt
              kcbackup create -r age1… laptop.kcb
              kcbackup restore laptop.kcb -i restore-key.txt
            """)

    @OptionGroup
    var newFile: NewKeyOutput

    @Flag(name: OptionName.postQuantum.name, help: "Make a key that a quantum computer does not break either.")
    var postQuantum = false

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        let output = try newFile.path()
        if style.json, output == nil { throw UsageProblem.needs(.json, .output) }
        let identity = try NativeIdentity.generate(postQuantum ? .hybrid : .x25519)
        let text = IdentityFile.text(of: identity, comments: ["created: \(session.now)"])
        let recipient = identity.recipient.description
        guard let output else {
            try session.write(text)
            // The file contains the public key too, so a user who prints it to the terminal sees it anyway.
            if !session.world.terminal.showsOutput { session.message("Public key: \(recipient)\n") }
            return .ok
        }
        try session.makingKeyFile { () throws(FileFailure) in
            try PrivateFile.create(session.machine.resolve(output), text)
        }
        session.done = "\(displayed(output)): the identity of \(identity.recipient.abbreviation)"
        if style.json {
            try session.result(["recipient": .text(recipient), "path": .text(output)], [])
        } else {
            // As in age-keygen: the public half of a new key is always needed. A long one is needed as a file.
            session.message(
                identity.recipient.isPostQuantum
                    ? "Public key: \(identity.recipient.abbreviation), whole in \(quoted(output))\n"
                    : "Public key: \(recipient)\n")
        }
        return .ok
    }
}
