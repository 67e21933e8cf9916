internal import ByteStreams
internal import Console

// The options of `create` as arguments for a later run, in another working folder and without a terminal.

extension CreateOptions {
    /// Returns the arguments; paths are absolute.
    ///
    /// - Throws: `UsageProblem` (`needsFolder`, `notUnattended`), and errors of reading recipients.
    func words(in session: Session) throws -> (words: [String], folder: String) {
        guard let to = folder.to, !to.isEmpty else { throw UsageProblem.needsFolder }
        if folder.change { throw UsageProblem.notUnattended(.change) }
        if folder.acceptShrink { throw UsageProblem.notUnattended(.acceptShrink) }
        let target = session.absolute(to)
        var words = [OptionName.to.spelling, target]
        if folder.all { words.append(OptionName.all.spelling) }
        if folder.ifChanged { words.append(OptionName.ifChanged.spelling) }
        if unlocking.unlock { throw UsageProblem.notUnattended(.unlock) }
        if skipLocked { words.append(OptionName.skipLocked.spelling) }
        if unencrypted { words.append(OptionName.unencrypted.spelling) }
        if let name = keychain.keychain {
            words += [OptionName.keychain.spelling, name.contains("/") ? session.absolute(keychain: name) : name]
        }
        if let from = foreign.from { words += [OptionName.from.spelling, from] }
        if let source = foreign.password { words += try spell(source, .password, session) }
        if let file = foreign.keyFile { words += [OptionName.keyFile.spelling, session.absolute(file)] }
        if let source = keychain.passcode { words += try spell(source, .passcode, session) }
        if let escrow {
            guard let source = escrow.source else { throw UsageProblem.malformed(.escrow, form: EscrowSource.forms) }
            words += try spell(source, .escrow, session)
        }
        if let source = keys.passphrase { words += try spell(source, .passphrase, session) }
        for recipient in keys.restoring.recipient { words += [OptionName.recipient.spelling, recipient] }
        for file in keys.restoring.recipientsFile {
            words += [OptionName.recipientsFile.spelling, session.absolute(file)]
        }
        for recipient in keys.inspectRecipient { words += [OptionName.inspectRecipient.spelling, recipient] }
        return (words, target)
    }

    private func spell(_ source: SecretSource, _ option: OptionName, _ session: Session) throws -> [String] {
        let word =
            switch source {
            case .file(let path): "file:" + session.absolute(path)
            case .command(let command): "cmd:" + command
            case .credential(let name): "cred:" + name
            case .terminal, .descriptor: throw UsageProblem.notUnattended(option)
            case .unknown: throw SecretProblem.notASource(option)
            }
        return [option.spelling, word]
    }
}

extension Session {
    /// Returns a path that does not depend on the working folder.
    func absolute(_ path: String) -> String {
        let resolved = world.resolve(path)
        if resolved.hasPrefix("/") { return resolved }
        return (ProcessEnvironment.workingFolder ?? "") + "/" + resolved
    }

    fileprivate func absolute(keychain name: String) -> String {
        if DesktopKeyring(name) != nil { return name }
        guard let path = FileOfItems.path(name) else { return absolute(name) }
        return "file:" + absolute(path)
    }
}
