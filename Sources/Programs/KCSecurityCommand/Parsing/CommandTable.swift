internal import KCByteStreams

extension Command {
    /// All commands, in the order of the usage text.
    static let all: [Command] = [
        .help, .listKeychains, .defaultKeychain, .loginKeychain, .createKeychain, .deleteKeychain,
        .lockKeychain, .unlockKeychain, .setKeychainSettings, .setKeychainPassword, .showKeychainInfo,
        .addGenericPassword, .addInternetPassword, .findGenericPassword, .findInternetPassword,
        .deleteGenericPassword, .deleteInternetPassword, .findKey,
        .findCertificate, .findIdentity, .deleteCertificate, .deleteIdentity, .importItems, .exportItems, .dumpKeychain,
        .error,
    ]

    /// Returns the command with this name, or the only command whose name begins with it.
    static func named(_ word: String) -> Command? {
        if let exact = all.first(where: { $0.name == word }) { return exact }
        let candidates = all.filter { !word.isEmpty && $0.name.exact.hasPrefix(word) }
        return candidates.count == 1 ? candidates[0] : nil
    }

    static let help = Command(
        "help", "Show all commands, or how one is used.", operands: "[command]"
    ) { words, session in
        guard let name = words.operands.first else {
            try session.write(programUsage)
            return .ok
        }
        guard let command = named(name) else { throw UsageProblem(reason: "there is no such command") }
        try session.write(command.usage)
        return .ok
    }
}
