import Foundation

/// Runs another program and collects what it says: the outside judges of the tests.
public enum ExternalProgram {
    /// What a finished program left.
    public struct Outcome: Sendable {
        /// The exit status.
        public let status: Int32
        /// Standard output.
        public let output: [UInt8]
        /// Standard error.
        public let errorOutput: [UInt8]
        /// Standard output as text.
        public var text: String { String(decoding: output, as: UTF8.self) }
        /// Standard error as text.
        public var errorText: String { String(decoding: errorOutput, as: UTF8.self) }
    }

    /// Where `name` is found in `PATH`, or nil.
    public static func locate(_ name: String) -> String? {
        let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
        return folders.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Runs `name` (found in `PATH`, or a path) to its end.
    ///
    /// Standard input and output go through files, so that no size can block.
    public static func run(
        _ name: String, _ arguments: [String], input: [UInt8] = [], environment: [String: String]? = nil,
        in folder: String? = nil
    ) throws -> Outcome {
        guard let executable = name.contains("/") ? name : locate(name) else {
            throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: name])
        }
        let scratch = try TemporaryFolder()
        try scratch.write("in", input)
        try scratch.write("out", [])
        try scratch.write("err", [])
        let process = Process()
        process.executableURL = URL(filePath: executable)
        process.arguments = arguments
        if let environment { process.environment = environment }
        if let folder { process.currentDirectoryURL = URL(filePath: folder) }
        process.standardInput = FileHandle(forReadingAtPath: scratch.path("in"))
        process.standardOutput = FileHandle(forWritingAtPath: scratch.path("out"))
        process.standardError = FileHandle(forWritingAtPath: scratch.path("err"))
        try process.run()
        process.waitUntilExit()
        return Outcome(
            status: process.terminationStatus, output: try scratch.read("out"), errorOutput: try scratch.read("err"))
    }
}

extension ExternalProgram {
    /// Where a program of this package is: beside the binary with the tests.
    ///
    /// - Throws: `CocoaError` (`fileNoSuchFile`) when it was not built.
    public static func built(_ name: String) throws -> String {
        let tests = CommandLine.arguments.first { $0.contains(".xctest") } ?? "/proc/self/exe"
        let folder = URL(filePath: tests).resolvingSymlinksInPath().deletingLastPathComponent()
        let program = folder.appending(path: name).path
        if FileManager.default.isExecutableFile(atPath: program) { return program }
        throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: program])
    }
}
