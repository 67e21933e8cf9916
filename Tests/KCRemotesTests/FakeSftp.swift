import Foundation
import KCByteStreams
import Testing

@testable import KCRemotes

/// The calls of `Sftp`, answered as OpenSSH 9.2 answers them.
extension FakeRemote {
    /// - Parameter wait: is called before each call.
    func sftp(_ wait: @escaping () throws -> Void = {}) -> Sftp {
        Sftp(temporaryFolder: FileManager.default.temporaryDirectory.path) { arguments, input, receive in
            try wait()
            return try self.answer(arguments, input, receive)
        }
    }

    func host(_ path: String = "sftp:nas:backups") throws -> RemoteFolder {
        try RemoteFolder(#require(RemoteLocation(path)), sftp())
    }

    func answer(
        _ arguments: [String], _ input: [UInt8], _ receive: (borrowing Span<UInt8>) throws -> Void
    ) throws -> ProgramEnding {
        #expect(arguments.starts(with: ["-b", "-"]) && arguments.contains("-oStrictHostKeyChecking=yes"))
        let lines = String(decoding: input, as: UTF8.self).split(separator: "\n").map(String.init)
        let verb = String(try #require(lines.last).prefix { $0 != " " })
        return try answer(verb) { fault in
            let folder = try #require(lines.first).firstMatch(of: /^cd "\.\/(.*)"$/).map { String($0.1) }
            return try self.perform(try #require(lines.last), folder ?? "", fault, receive)
        }
    }

    private func failed(_ message: String) -> ProgramEnding { ProgramEnding(status: 1, messages: message + "\n") }

    private func isFolder(_ path: String) -> Bool {
        path.isEmpty || folders.contains(path) || files.keys.contains { $0.hasPrefix(path + "/") }
    }

    private func perform(
        _ line: String, _ folder: String, _ fault: Fault?, _ receive: (borrowing Span<UInt8>) throws -> Void
    ) throws -> ProgramEnding {
        let words = line.split(separator: "\"", omittingEmptySubsequences: false).map(String.init)
        func path(_ number: Int) throws -> String {
            let word = try #require(words.count > 2 * number + 1 ? words[2 * number + 1] : nil)
            return word.hasPrefix("./") ? String(word.dropFirst(2)) : word
        }
        switch words[0] {
        case "ls -lna":
            guard isFolder(folder) else {
                // The message of realpath depends on whether the folder above is there.
                let parent = folder.split(separator: "/").dropLast().joined(separator: "/")
                return failed(
                    isFolder(parent)
                        ? "stat remote: No such file or directory" : "realpath /home/\(folder): No such file")
            }
            var text = "sftp> cd \"./\(folder)\"\nsftp> ls -lna\ndrwxr-xr-x    ? 0     0      4096 Nov  4 15:25 .\n"
            for (path, bytes) in files where path.hasPrefix(folder + "/") {
                text +=
                    "-rw-------    ? domain users x     \(bytes.count) Nov 24  2025 \(path.dropFirst(folder.count + 1))\n"
            }
            try receive(Array(text.utf8).span)
        case "get ":
            guard let bytes = files[try path(0)] else { return failed("File \"/home/\(try path(0))\" not found.") }
            try Data(bytes).write(to: URL(filePath: try path(1)))
        case "put -f ":
            let target = try path(1)
            let parent = target.split(separator: "/").dropLast().joined(separator: "/")
            guard isFolder(parent) else { return failed("dest open \"\(target)\": No such file or directory") }
            uploads[target, default: 0] += 1
            files[target] = try Self.bytes(of: try path(0), fault)
        case "rename -l ":
            guard let bytes = files[try path(0)] else { return failed("remote rename: No such file or directory") }
            guard files[try path(1)] == nil else { return failed("remote rename \"x\" to \"y\": Failure") }
            files[try path(0)] = nil
            files[try path(1)] = bytes
        case "rm ":
            guard files.removeValue(forKey: try path(0)) != nil else {
                return failed("remote delete x: No such file or directory")
            }
        case "mkdir ":
            let parent = try path(0).split(separator: "/").dropLast().joined(separator: "/")
            guard isFolder(parent) else { return failed("remote mkdir \"x\": No such file or directory") }
            guard folders.insert(try path(0)).inserted else { return failed("remote mkdir \"x\": Failure") }
        case "df ":
            try receive(Array("sftp> df\n  Size  Used  Avail (root) %Capacity\n  16  16  0  0  100%\n".utf8).span)
        default: return failed("Invalid command.")
        }
        return Self.fine
    }
}
