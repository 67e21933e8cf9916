package import KCAgeEncryption
package import KCAgePlugins
package import KCAsking
package import KCByteStreams
package import KCConsole

/// Answers questions from a list; without one, there is nobody to ask.
package final class ScriptedAsking: Asking {
    package let isAttended: Bool
    package private(set) var asked: [SecretQuestion] = []
    private var answers: ArraySlice<String>

    package init(_ answers: [String]? = nil) {
        isAttended = answers != nil
        self.answers = answers?[...] ?? []
    }

    package func secret(_ question: SecretQuestion, after wrong: WrongAnswer?) throws(TerminalFailure) -> SecretBytes {
        asked.append(question)
        return try answer()
    }

    package func newSecret(_ question: SecretQuestion, differed: Int) throws(TerminalFailure) -> SecretBytes {
        asked.append(question)
        return try answer()
    }

    package func newSecretAgain() throws(TerminalFailure) -> SecretBytes { try answer() }

    package func quietly<Result: ~Copyable>(_ body: () throws -> Result) throws -> Result { try body() }

    package func checking<Result: ~Copyable>(_ check: () throws -> Result) rethrows -> Result { try check() }

    package func touch(_ request: TouchRequest) {}

    package func recoveryKit() throws -> [NativeIdentity] { throw TerminalFailure.unavailable }

    package func show(generated secret: borrowing SecretBytes, _ kind: SecretQuestion.Kind) {}

    package func confirms(_ question: TaskQuestion) -> Bool { true }

    package func storeToBackUp(keychain: String, _ doubt: StoreDoubt) throws -> StoreAnswer { .keychain }

    package var pluginUser: any PluginUser { NoPluginUser() }

    package func follow(
        _ work: TaskWork, total: () throws -> UInt64?, done: (() -> UInt64)?
    ) -> any TaskProgress { NoProgress() }

    private struct NoProgress: TaskProgress {
        func step() {}
        func finish() {}
    }

    private struct NoPluginUser: PluginUser {
        var isAttended: Bool { false }
        func beginWait(for plugin: PluginName) {}
        func endWait() {}
        func show(_ message: String, of plugin: PluginName) -> Bool { false }
        func read(_ prompt: String, isSecret: Bool, for plugin: PluginName) throws(TerminalFailure) -> SecretBytes {
            throw .unavailable
        }
        func choose(
            _ question: String, _ first: String, or second: String?, for plugin: PluginName
        ) throws(TerminalFailure) -> Bool? { throw .unavailable }
    }

    private func answer() throws(TerminalFailure) -> SecretBytes {
        guard isAttended else { throw .unavailable }
        guard let answer = answers.popFirst() else { throw .closed }
        return SecretBytes(copying: Array(answer.utf8))
    }
}
