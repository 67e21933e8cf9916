import Foundation

/// A real terminal without a window: a tmux server of its own with one command in it, which ends with the value.
package final class TmuxTerminal {
    /// False where tmux is not installed.
    package static let isAvailable = ExternalProgram.locate("tmux") != nil

    /// What was waited for never came.
    package struct Absent: Error, CustomStringConvertible {
        let wanted: String
        let screen: String

        /// What was wanted, and what is there.
        package var description: String { "\(wanted) does not appear on the screen:\n\(screen)" }
    }

    private let folder: TemporaryFolder
    private let socket: String

    /// Starts `command` in a terminal of this size.
    ///
    /// - Throws: as `ExternalProgram.run`.
    package init(
        columns: Int, rows: Int, _ command: [String], environment: [String: String], in workingFolder: String
    ) throws {
        folder = try TemporaryFolder()
        socket = folder.path("tmux")
        let words = ["env", "-i"] + environment.map { "\($0)=\($1)" }.sorted() + command
        let line = words.map { "'" + $0.replacing("'", with: "'\\''") + "'" }.joined(separator: " ")
        try tmux(
            "-u", "-f", "/dev/null", "new-session", "-d", "-x", "\(columns)", "-y", "\(rows)", "-c", workingFolder,
            "exec \(line)", ";", "set-option", "-g", "status", "off")
    }

    deinit {
        // Its server is the one of this socket alone. One that has ended already is no failure.
        _ = try? ExternalProgram.run("tmux", ["-S", socket, "kill-server"])
    }

    /// What somebody does at the keyboard.
    package enum Input {
        /// Text, as it is.
        case text(String)
        /// A key by its name, such as `Enter`, `Tab`, `C-a`.
        case key(String)

        fileprivate var command: [String] {
            switch self {
            // A semicolon at the end of a word would end tmux's own command.
            case .text(let text): ["send-keys", "-l", text.hasSuffix(";") ? text.dropLast() + "\\;" : text]
            case .key(let key): ["send-keys", key]
            }
        }
    }

    /// Types, in this order.
    package func type(_ inputs: Input...) throws {
        try tmux(Array(inputs.map(\.command).joined(separator: [";"])))
    }

    /// What is on the screen, without blanks at the ends of lines and without empty lines at the end.
    package func screen() throws -> String {
        var lines = try tmux("capture-pane", "-p").components(separatedBy: "\n")
        while lines.last?.isEmpty == true { lines.removeLast() }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Waits until there is such a line on the screen.
    ///
    /// - Throws: as `wait(until:)`.
    @discardableResult
    package func wait(for isWanted: (String) -> Bool) throws -> String {
        try wait(until: { $0.components(separatedBy: "\n").contains(where: isWanted) })
    }

    /// Waits until the screen is as wanted.
    ///
    /// - Returns: the screen.
    /// - Throws: ``Absent`` after a minute.
    @discardableResult
    package func wait(until isWanted: (String) -> Bool) throws -> String {
        let start = ContinuousClock.now
        var seen = ""
        repeat {
            seen = try screen()
            if isWanted(seen) { return seen }
        } while start.duration(to: .now) < .seconds(60)
        throw Absent(wanted: "what is waited for", screen: seen)
    }

    @discardableResult
    private func tmux(_ arguments: String...) throws -> String { try tmux(arguments) }

    @discardableResult
    private func tmux(_ arguments: [String]) throws -> String {
        // The server inherits the environment of the first client; one in a terminal of tmux would refuse to start.
        let environment = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "LC_ALL": "C.UTF-8"]
        let outcome = try ExternalProgram.run("tmux", ["-S", socket] + arguments, environment: environment)
        guard outcome.status == 0 else { throw Absent(wanted: "tmux \(arguments)", screen: outcome.errorText) }
        return outcome.text
    }
}
