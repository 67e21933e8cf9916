internal import ArgumentParser
internal import KCAgeEncryption
internal import KCBackupTasks
internal import KCByteStreams
internal import KCConsole
internal import KCDeviceIdentity
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCQRCodes
internal import KCRecoveryKits
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// `kcbackup recovery make`.
struct RecoveryMakeCommand: Verb {
    static let mainOptions: [OptionName] = [.output, .comment, .shares]

    static let configuration = CommandConfiguration(
        commandName: "make",
        abstract: "Make a key that opens backups, and a sheet to print with it.",
        discussion: """
            The sheet shows the key in lines that can be typed, and says what it opens and how to use it, also without \
            kcbackup. The key is kept nowhere else. Without -o the sheet goes to standard output as text, ready for a \
            printer.

            The name of the file decides what it is: a page for a browser if it ends in '.html', a PDF if it ends in \
            '.pdf', and text otherwise. A page and a PDF have the key as a QR code, too, if libqrencode is there; text has \
            it with '--qr'.

            With '--shares 2of3' the key is split into three sheets: any two open backups, and one alone reveals \
            nothing. The words follow SLIP-39, which other programs can combine too.

            With '--post-quantum' the key is one that a quantum computer does not break either. All other public keys \
            of an archive must then be post-quantum too (age1pq1…): first retire the kits that are not.

            Print it, and type it in once with 'kcbackup recovery check'. From now on, each encrypted archive of this \
            device, including those of its jobs, opens with it too; 'kcbackup rekey' adds it to older ones.

            EXAMPLES:
              kcbackup recovery make | lp
              kcbackup recovery make -o /dev/shm/kit.pdf --comment "in the safe"
              kcbackup recovery make -o /dev/shm/shares.pdf --shares 2of3
            """)

    @Option(
        name: OptionName.output.name,
        help: ArgumentHelp(
            "The new file, such as 'kit.pdf'; standard output for '-' or without it.", valueName: "file"),
        completion: .file(extensions: ["html", "pdf", "txt"]))
    var output: String?

    @Option(
        name: OptionName.comment.name,
        help: ArgumentHelp("What to remember about it, such as where it lies; it is printed too.", valueName: "text"))
    var comment = ""

    @Flag(name: OptionName.qr.name, help: "Print the key as a QR code too, or fail if that cannot be done.")
    var qr = false

    @Option(
        name: OptionName.shares.name,
        help: ArgumentHelp(
            "Split the key: '2of3' for three sheets of which two are needed; at most 16.", valueName: "k-of-n"))
    var shares: String?

    @Flag(name: OptionName.postQuantum.name, help: "Make a key that a quantum computer does not break either.")
    var postQuantum = false

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        let output = try NewKeyOutput.path(output)
        if style.json, output == nil { throw UsageProblem.needs(.json, .output) }
        guard RecoveryKit.isComment(comment) else { throw KitProblem.comment }
        let scheme = try shares.map(Self.scheme)
        let form = try Self.form(ofFile: output)
        let hasCode = try hasCode(on: form, session)
        let local = LocalDevice(session.machine)
        let device = try local.keyOrFirst().key
        let kits = LocalKits(of: device, at: local)
        let present = try kits.list()
        for kit in present where !kit.isPrinted && kit.retired == nil { session.warn(kit.unprintedWords) }
        try requireRoom(in: present)
        if let output, case let path = session.machine.resolve(output), try Path.exists(path) {
            throw Refusal.keyFileExists(path)
        }
        try session.requireJobsFit(kitThatIsPostQuantum: postQuantum)
        let identity = try NativeIdentity.generate(postQuantum ? .hybrid : .x25519)
        var kit = RecoveryKit(identity.recipient, made: session.now, comment: comment, shares: scheme)
        let contents = try scheme.map { scheme in
            try identity.shares(scheme).map { KitSheet.Content.share($0, scheme) }
        }
        let places = session.backupPlaces()
        let sheets = (contents ?? [.key(identity)]).map { content in
            KitSheet(
                kit, with: content, by: device, on: session.calendar.day(session.now),
                version: Program.version, places: places)
        }
        let file = try code { () throws(QRCodeFailure) in
            try form.file(sheets, hasCode: hasCode, ground: output == nil ? session.codeGround : ("", ""))
        }
        // Archives are made for what is in the list: a sheet of a kit that is not there would open none.
        kit.isPrinted = false
        try enter(kit, into: kits, session)
        do {
            try write(file, to: output, in: session)
        } catch {
            try kits.change { list in list.removeAll { $0.recipient == kit.recipient } }
            throw error
        }
        kit.isPrinted = true
        do {
            try kits.change { list in
                for index in list.indices where list[index].recipient == kit.recipient { list[index].isPrinted = true }
            }
        } catch {
            session.warn(
                "the list of recovery kits does not say that the sheet is written, until it is tried: "
                    + session.failure(of: error).explanation.message)
        }
        session.done = "recovery kit \(kit.fingerprint) is made"
        if let output {
            try session.result(["kit": kit.json(at: session.now), "path": .text(output)], [])
        }
        tell(of: kit, output, session)
        return .ok
    }

    private func enter(_ kit: RecoveryKit, into kits: LocalKits, _ session: Session) throws {
        do {
            try kits.change { list in
                try requireRoom(in: list)
                list.append(kit)
            }
        } catch {
            throw Failure.kitNotEntered(session.failure(of: error))
        }
    }

    private func write(_ sheet: borrowing SecretBytes, to output: String?, in session: Session) throws {
        guard let output else { return try session.write(sheet) }
        // Nothing trusts the sheet, so it may be in a folder in memory that all users share.
        let path = session.machine.resolve(output)
        try session.makingKeyFile { () throws(FileFailure) in try PrivateFile.create(path, sheet, anywhere: true) }
    }

    private static func form(ofFile output: String?) throws(UsageProblem) -> SheetForm {
        guard let output else { return .text }
        guard let form = SheetForm(ofFile: output) else {
            throw .malformed(.output, form: "a page ('.html'), a PDF ('.pdf') or text ('.txt')")
        }
        return form
    }

    private static func scheme(_ text: String) throws(UsageProblem) -> ShareScheme {
        guard let scheme = ShareScheme(text) else {
            throw .malformed(.shares, form: "a number of shares such as '2of3': at least 2 are needed, of at most 16")
        }
        return scheme
    }

    /// Says what there is, and what to do with it.
    private func tell(of kit: RecoveryKit, _ output: String?, _ session: Session) {
        session.message("Recovery kit: \(kit.fingerprint)\nPublic key: \(kit.recipient.abbreviation)\n")
        if output == nil, session.world.terminal.showsOutput {
            session.note("the key is in the history of this terminal now: clear it")
        }
        let sheet = kit.shares == nil ? "the sheet" : "the sheets"
        session.note(
            output.map { "print \(quoted($0)), remove it, and try \(sheet): 'kcbackup recovery check'" }
                ?? "try \(sheet): 'kcbackup recovery check'")
    }

    /// True if the sheet gets a code.
    ///
    /// A page without one serves as well as one with it, so it is made, with a warning, unless a code was asked for.
    private func hasCode(on form: SheetForm, _ session: Session) throws(KitProblem) -> Bool {
        if form == .text, !qr { return false }
        do throws(QRCodeFailure) {
            try QRCode.load()
            return true
        } catch {
            if qr { throw .code(error) }
            let explanation = explainKit(.code(error))
            session.warn("the sheet has no QR code: \(explanation.message)")
            return false
        }
    }

    /// Reports a code that cannot be made as a problem of the kit.
    private func code<Result: ~Copyable>(_ body: () throws(QRCodeFailure) -> Result) throws(KitProblem) -> Result {
        do throws(QRCodeFailure) {
            return try body()
        } catch {
            throw .code(error)
        }
    }

    private func requireRoom(in kits: [RecoveryKit]) throws(KitProblem) {
        guard kits.count < RecoveryKits.countLimit else { throw .tooMany(limit: RecoveryKits.countLimit) }
        // Archives are made for all of them.
        if let kit = kits.first(where: { $0.retired == nil && $0.recipient.isPostQuantum != postQuantum }) {
            throw .otherStrength(fingerprint: kit.fingerprint, isPostQuantum: !postQuantum)
        }
    }
}

extension Session {
    /// The sequences that make a code dark on a light ground on a terminal, whatever its colors are; empty elsewhere.
    fileprivate var codeGround: (start: String, end: String) {
        world.terminal.showsOutput ? ("\u{1b}[38;5;16;48;5;231m", "\u{1b}[0m") : ("", "")
    }
}
