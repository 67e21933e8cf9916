import Foundation
import KCByteStreams
import KCCryptography
import Testing

@testable import KCRemotes

/// A remote in memory: the calls of `Rclone`, answered as version 1.60 answers them, and those of `Sftp` (FakeSftp).
final class FakeRemote {
    /// A fault in a call.
    enum Fault: Equatable {
        /// The call fails, and does nothing.
        case nothing
        /// The call does what it should, and fails.
        case done
        /// An upload writes the first half of the file under its name, and fails.
        case half
        /// An upload ends well, and has written other bytes.
        case rotten
    }

    /// Everything on the remote, by path.
    var files: [String: [UInt8]] = [:]
    /// The output of `config show`.
    var configuration = "[nas]\ntype = webdav\n"
    /// The faults, by the number of the call from 0.
    var faults: [Int: Fault] = [:]
    /// The status and the message of a failure.
    var failure: (status: Int32, message: String) = (1, "Failed to copy: something")
    /// How the remote treats a condition for an upload.
    enum Conditions { case kept, ignored, refused }
    var conditions = Conditions.kept
    /// The verbs that the remote refuses.
    var refused: Set<String> = []
    /// Files that may not be deleted.
    var kept: Set<String> = []
    /// True if renaming a file replaces another one.
    var replaces = true
    /// The acts of another machine before a call, by the number of the call.
    var meanwhile: [Int: (FakeRemote) -> Void] = [:]
    /// The verbs of all calls.
    private(set) var calls: [String] = []
    /// The folders that sftp made.
    var folders: Set<String> = []
    /// How often a file was written under each name that is not its last.
    var uploads: [String: Int] = [:]
    /// Files that were complete under their names, and whose bytes changed or went.
    private(set) var violations: [String] = []

    var rclone: Rclone {
        Rclone(environment: [:]) { arguments, receive in try self.answer(arguments, receive) }
    }

    func folder(_ path: String = "nas:backups") throws -> RemoteFolder {
        try RemoteFolder(#require(RemoteLocation(path)), rclone)
    }

    func answer(
        _ arguments: [String], _ receive: (borrowing Span<UInt8>) throws -> Void
    ) throws -> ProgramEnding {
        try answer(arguments[0]) { fault in try self.perform(arguments[0], arguments, fault, receive) }
    }

    /// Notes a call, and lets happen what is planned for it.
    func answer(_ verb: String, _ perform: (Fault?) throws -> ProgramEnding) throws -> ProgramEnding {
        let number = calls.count
        calls.append(verb)
        if let act = meanwhile[number] {
            meanwhile[number] = nil
            act(self)
        }
        let before = files
        defer {
            for (path, bytes) in before where path.hasSuffix(".kcb") && files[path] != bytes { violations.append(path) }
        }
        let fault = faults[number]
        if refused.contains(verb) { return ProgramEnding(status: 1, messages: "AccessDenied: status code: 403") }
        if fault == .nothing { return ProgramEnding(status: failure.status, messages: failure.message) }
        let ending = try perform(fault)
        return fault == nil || fault == .rotten
            ? ending : ProgramEnding(status: failure.status, messages: failure.message)
    }

    /// The bytes that an upload writes.
    static func bytes(of local: String, _ fault: Fault?) throws -> [UInt8] {
        let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: local)))
        return switch fault {
        case .half: Array(bytes.prefix(bytes.count / 2))
        case .rotten: bytes.dropLast() + [bytes[bytes.count - 1] ^ 1]
        default: bytes
        }
    }

    /// The names that a call is about.
    private static func included(_ arguments: [String]) -> [String] {
        arguments.indices.filter { arguments[$0] == "--include" }.map { String(arguments[$0 + 1].dropFirst()) }
    }

    static let fine = ProgramEnding(status: 0, messages: "")

    private func perform(
        _ verb: String, _ arguments: [String], _ fault: Fault?, _ receive: (borrowing Span<UInt8>) throws -> Void
    ) throws -> ProgramEnding {
        func path(_ offset: Int) -> String {
            let path = String(arguments[arguments.count - offset].dropFirst("nas:".count))
            return path.hasSuffix("/") ? String(path.dropLast()) : path
        }
        func written(_ local: String) throws -> [UInt8] { try Self.bytes(of: local, fault) }
        switch verb {
        case "config": try receive(Array(configuration.utf8).span)
        case "lsf":
            let prefix = path(1) + "/"
            let inside = files.filter { $0.key.hasPrefix(prefix) }
            if inside.isEmpty { return ProgramEnding(status: 3, messages: "directory not found") }
            for (path, bytes) in inside {
                // As a field of CSV.
                let name = path.dropFirst(prefix.count).replacing("\"", with: "\"\"")
                try receive(Array("\(bytes.count),\"\(name)\"\n".utf8).span)
            }
        case "cat":
            guard let bytes = files[path(1)] else {
                return ProgramEnding(status: 3, messages: "Failed to cat: object not found")
            }
            for byte in bytes { try receive([byte].span) }
        case "copy":
            let local = arguments[arguments.count - 2]
            let isFree = Self.included(arguments).allSatisfy { files["\(path(1))/\($0)"] == nil }
            if let header = arguments.firstIndex(of: "--header") {
                #expect(arguments[header + 1] == "If-None-Match: *")
                // Without these options, an upload would see, compare and delete what another machine has written.
                #expect(arguments.contains("--no-check-dest") && arguments.contains("--s3-no-head"))
                if conditions == .refused { return ProgramEnding(status: 1, messages: "api error NotImplemented") }
            }
            let mayReplace = arguments.contains("--header") && conditions == .ignored
            for name in Self.included(arguments) where mayReplace || files["\(path(1))/\(name)"] == nil {
                files["\(path(1))/\(name)"] = try written("\(local)/\(name)")
            }
            if mayReplace || isFree { break }
            return arguments.contains("--header")
                ? ProgramEnding(status: 1, messages: "PreconditionFailed: At least one of")
                : ProgramEnding(status: 6, messages: "immutable file modified")
        case "hashsum":
            for name in Self.included(arguments) {
                guard let bytes = files["\(path(1))/\(name)"] else { continue }
                try receive(Array("\(SHA256.hash(bytes.span).hex)  \(name)\n".utf8).span)
            }
        case "copyto":
            uploads[path(1), default: 0] += 1
            files[path(1)] = try written(arguments[arguments.count - 2])
        case "moveto":
            // Without this option, a move would delete the file that has the name.
            #expect(arguments.contains("--no-check-dest"))
            guard let bytes = files[path(2)] else {
                return ProgramEnding(status: 3, messages: "Failed to moveto: object not found")
            }
            if !replaces, files[path(1)] != nil {
                return ProgramEnding(status: 1, messages: "Couldn't move: Move Rename failed: SSH_FX_FAILURE")
            }
            files[path(2)] = nil
            files[path(1)] = bytes
        case "deletefile":
            if kept.contains(path(1)) { return ProgramEnding(status: 1, messages: "AccessDenied: Access Denied") }
            if files.removeValue(forKey: path(1)) == nil {
                return ProgramEnding(status: 4, messages: "is a directory or doesn't exist: object not found")
            }
        default: return ProgramEnding(status: 1, messages: "unknown command \"\(verb)\"")
        }
        return Self.fine
    }
}
