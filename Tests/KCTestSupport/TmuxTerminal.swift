import Foundation
import Glibc

/// A real terminal without a window: a tmux server of its own that runs one command and ends with this object.
package final class TmuxTerminal {
    /// True if tmux is installed.
    package static let isAvailable = ExternalProgram.locate("tmux") != nil

    /// Thrown if the expected text does not appear, or if tmux fails.
    package struct Absent: Error, CustomStringConvertible {
        let wanted: String
        let screen: String

        /// The expected text, and the contents of the screen.
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
        let variables = environment.map { "\($0)=\($1)" } + [ExternalProgram.lowestCosts]
        let words = ["env", "-i"] + variables.sorted() + command
        let line = words.map { "'" + $0.replacing("'", with: "'\\''") + "'" }.joined(separator: " ")
        try tmux(
            "-u", "-f", "/dev/null", "new-session", "-d", "-x", "\(columns)", "-y", "\(rows)", "-c", workingFolder,
            "exec \(line)", ";", "set-option", "-g", "status", "off")
    }

    deinit {
        // The socket belongs to this server alone. A server that has already ended is not an error.
        _ = try? ExternalProgram.run("tmux", ["-S", socket, "kill-server"])
    }

    /// Keyboard input.
    package enum Input {
        /// Literal text.
        case text(String)
        /// A key by name, such as `Enter`, `Tab`, `C-a`.
        case key(String)

        fileprivate var command: [String] {
            switch self {
            // A semicolon at the end of a word would end tmux's own command.
            case .text(let text): ["send-keys", "-l", text.hasSuffix(";") ? text.dropLast() + "\\;" : text]
            case .key(let key): ["send-keys", key]
            }
        }
    }

    /// Types `inputs` in order.
    package func type(_ inputs: Input...) throws {
        try tmux(Array(inputs.map(\.command).joined(separator: [";"])))
    }

    /// The text on the screen, without trailing blanks and trailing empty lines.
    package func screen() throws -> String {
        var lines = try tmux("capture-pane", "-p").components(separatedBy: "\n")
        while lines.last?.isEmpty == true { lines.removeLast() }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Waits until a line on the screen satisfies `isWanted`.
    ///
    /// - Throws: as `wait(until:)`.
    @discardableResult
    package func wait(for isWanted: (String) -> Bool) throws -> String {
        try wait(until: { $0.components(separatedBy: "\n").contains(where: isWanted) })
    }

    /// Waits until the screen satisfies `isWanted`.
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
            // Each look starts a program.
            _ = poll(nil, 0, 50)
        } while start.duration(to: .now) < .seconds(60)
        throw Absent(wanted: "what is waited for", screen: seen)
    }

    @discardableResult
    private func tmux(_ arguments: String...) throws -> String { try tmux(arguments) }

    @discardableResult
    private func tmux(_ arguments: [String]) throws -> String {
        // The server inherits the environment of its first client; with that of another tmux session it would refuse to
        // start.
        let environment = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "LC_ALL": "C.UTF-8"]
        let outcome = try ExternalProgram.run("tmux", ["-S", socket] + arguments, environment: environment)
        guard outcome.status == 0 else { throw Absent(wanted: "tmux \(arguments)", screen: outcome.errorText) }
        return outcome.text
    }
}
