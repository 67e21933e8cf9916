import Foundation

/// The `openssl` command in a folder of its own, to make certificates and keys and to check those of this package.
package struct OpenSSLCommand: Sendable {
    /// Why a command failed.
    package struct Failure: Error, CustomStringConvertible {
        /// The message that the command printed.
        package let description: String
    }

    /// Where the command runs; file names are relative to it.
    package let folder: TemporaryFolder

    /// Makes a new folder, with the sample certificates and their keys in it.
    package init() throws {
        folder = try TemporaryFolder()
        for name in try FileManager.default.contentsOfDirectory(atPath: Self.samples) {
            try folder.write(name, [UInt8](Data(contentsOf: URL(filePath: Self.samples + "/" + name))))
        }
    }

    /// The folder of the sample certificates.
    package static let samples = Project.path("Samples/certificates")

    /// Runs `openssl` with the words of `line`, separated by spaces, and returns what it prints.
    ///
    /// Words that contain spaces go into `more`; they come last.
    @discardableResult
    package func callAsFunction(_ line: String, _ more: String..., input: [UInt8] = []) throws -> String {
        let words = line.split(separator: " ").map(String.init)
        let outcome = try ExternalProgram.run(
            "openssl", words + more, input: input, in: folder.path)
        guard outcome.status == 0 else { throw Failure(description: outcome.errorText) }
        return outcome.text
    }

    /// The bytes of a file in the folder.
    package func read(_ name: String) throws -> [UInt8] { try folder.read(name) }

    /// Runs `line`, which ends with the option that names the output file, and returns the bytes of that file.
    package func make(_ line: String, _ name: String = "made") throws -> [UInt8] {
        try self(line + " " + name)
        return try read(name)
    }
}
