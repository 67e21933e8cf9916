package import KCAgeEncryption
package import KCByteStreams
package import KCConsole

/// The person for whom a plugin runs.
///
/// All texts come from the plugin, and are not to be trusted.
package protocol PluginUser: Sendable {
    /// True if somebody can be asked, and can interrupt what takes too long.
    var isAttended: Bool { get }

    /// Begins to wait for a plugin, which may need a touch without saying so.
    func beginWait(for plugin: PluginName)
    /// Ends the wait.
    func endWait()

    /// Shows a message; false if nobody sees it.
    func show(_ message: String, of plugin: PluginName) -> Bool

    /// Asks for a line.
    ///
    /// - Parameter isSecret: true if the line is not to be seen while it is typed.
    func read(_ prompt: String, isSecret: Bool, for plugin: PluginName) throws(TerminalFailure) -> SecretBytes

    /// Asks for one of two answers, or for the only one.
    ///
    /// - Returns: true for the first; nil for neither.
    func choose(_ question: String, _ first: String, or second: String?, for plugin: PluginName)
        throws(TerminalFailure) -> Bool?
}
