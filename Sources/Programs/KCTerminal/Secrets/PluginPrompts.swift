package import KCAgeEncryption
internal import KCAgePlugins
package import KCByteStreams
package import KCConsole
internal import KCKeychainModel
internal import KCReportText
internal import KCStoreTasks

/// The user at the terminal, who sees which plugin a question is from.
package struct PluginPrompts: PluginUser {
    package let terminal: any Terminal
    package let notice: DelayedNotice

    // As long as a token takes that needs no touch.
    private static let patience = Duration.seconds(2)
    // A few lines of a terminal, and a word or two.
    private static let lineLimit = 10
    private static let optionLimit = 60

    package var isAttended: Bool { terminal.isAttended }

    package func beginWait(for plugin: PluginName) {
        if terminal.isAttended, terminal.showsMessages {
            notice.begin("waiting for \(plugin.program)…", after: Self.patience)
        }
    }

    package func endWait() { notice.end() }

    package func show(_ message: String, of plugin: PluginName) -> Bool {
        guard terminal.isAttended || terminal.showsMessages else { return false }
        let text = words(message, of: plugin) + "\n"
        do throws(TerminalFailure) {
            // On the terminal itself: what a token waits for must not go to a log.
            try terminal.show(
                SecretBytes(copying: (terminal.messageWidth.map { wrapped(text, to: max(20, $0)) } ?? text).utf8))
            return true
        } catch {
            return false
        }
    }

    package func read(_ prompt: String, isSecret: Bool, for plugin: PluginName) throws(TerminalFailure) -> SecretBytes {
        let prompt = words(prompt, of: plugin)
        let question = prompt.exact.hasSuffix(":") || prompt.exact.hasSuffix("?") ? prompt + " " : prompt + ": "
        return isSecret ? try terminal.readSecret(question) : try terminal.readVisibleSecret(question)
    }

    package func choose(
        _ question: String, _ first: String, or second: String?, for plugin: PluginName
    ) throws(TerminalFailure) -> Bool? {
        let question = words(question, of: plugin)
        let first = displayed(first, limit: Self.optionLimit)
        guard let second else {
            _ = try terminal.readAnswer("\(question)\n  Enter: \(first) ")
            return true
        }
        let options = "  y: \(first)\n  n: \(displayed(second, limit: Self.optionLimit))\n"
        while true {
            switch try terminal.readAnswer("\(question)\n\(options)[y/n] ").lowercased() {
            case "y", "yes": return true
            case "n", "no": return false
            default: continue
            }
        }
    }

    /// The text of a plugin below its name; further lines are indented, so that they cannot pass for ours.
    private func words(_ text: String, of plugin: PluginName) -> String {
        let lines = text.exact.split(separator: "\n").prefix(Self.lineLimit).map { displayed($0) }
        return "\(plugin.program): " + lines.joined(separator: "\n  ")
    }
}
