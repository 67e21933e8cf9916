// Fence: replaces this process by another program.
internal import CKCSystem
internal import Glibc
package import KCByteStreams

/// A command that takes the place of this process, with secrets.
///
/// The process stays the same one: its caller, its terminal and its signals are the command's from then on, and so is the
/// exit status. Nothing of this program remains, so that no memory with secrets outlives their use.
package struct Successor {
    /// A variable of the command.
    package final class Variable: Sendable {
        package let name: String
        package let secret: SecretBytes
        /// True if its value is the path of a file that contains the secret.
        package let isFile: Bool

        package init(_ name: String, _ secret: consuming SecretBytes, isFile: Bool) {
            self.name = name
            self.secret = secret
            self.isFile = isFile
        }
    }

    /// Why the command does not run.
    package enum Failure: Error, Hashable, Sendable {
        /// The command cannot be started, with this `errno`.
        case notStarted(Int32)
        /// There is no file for a secret, with this `errno`.
        case noFile(Int32)
    }

    /// The command, which is searched for in `PATH`, and its arguments.
    package let words: [String]
    /// The variables with secrets; others of the same name are replaced.
    package let variables: [Variable]
    /// The descriptors that the command does not inherit, since secrets were read from them.
    package let withheld: [Int32]
    /// True for a companion: it is run by its path, and never by a shell if the kernel refuses it.
    private let isCompanion: Bool

    // Shell scripts use the numbers below for files of their own.
    private static let firstFile: Int32 = 10

    package init(_ words: [String], variables: [Variable], withheld: [Int32]) {
        precondition(!words.isEmpty, "a command has a name")
        self.words = words
        self.variables = variables
        self.withheld = withheld
        isCompanion = false
    }

    /// A companion, with its path first.
    package init(companion words: [String]) {
        self.words = words
        variables = []
        withheld = []
        isCompanion = true
    }

    /// Runs the command in place of this process, which gets back the signals and the file mode mask of its caller.
    ///
    /// The files are in memory and sealed. The command, and what it starts, can open each of them by its path any number
    /// of times, as long as the descriptor is inherited.
    ///
    /// - Throws: `Failure`, `StreamFailure` (`system` while a file is filled, `interrupted`).
    package func takeOver() throws -> Never {
        let files = try variables.map { try $0.isFile ? Self.file($0.secret) : nil }
        var texts = SecretBytes(capacity: 4_096)
        var starts: [Int] = []
        for (variable, file) in zip(variables, files) {
            starts.append(texts.count)
            texts.append("\(variable.name)=".utf8.span)
            if let file {
                texts.append("/dev/fd/\(file.descriptor)".utf8.span)
            } else {
                variable.secret.withBytes { texts.append($0) }
            }
            texts.append(0)
        }
        for number in withheld where number > 2 { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
        for case let file? in files { _ = fcntl(file.descriptor, F_SETFD, 0) }
        let code = replace(texts, starts)
        withExtendedLifetime(files) {}
        ProcessSetup.ignoreOutputSignals()
        if Interruption.isRequested { throw StreamFailure(.reading, .interrupted) }
        throw Failure.notStarted(code)
    }

    /// Replaces the process; returns the `errno` if that fails.
    private func replace(_ texts: consuming SecretBytes, _ starts: [Int]) -> Int32 {
        var texts = texts
        let arguments = unsafe ChildProcess.strings(words)
        defer { unsafe arguments.forEach { unsafe free($0) } }
        let inherited = unsafe inherited()
        return texts.withMutableBytes { bytes in
            unsafe bytes.withUnsafeMutableBytes { texts in
                let base = unsafe texts.baseAddress?.assumingMemoryBound(to: CChar.self)
                let environment = unsafe inherited + starts.map { unsafe base?.advanced(by: $0) } + [nil]
                // A signal that comes later ends the process at once.
                Inheritance.restore(emptiesInput: !isCompanion)
                if Interruption.isRequested { return EINTR }
                return unsafe csystem_replace(arguments[0], isCompanion ? 0 : 1, arguments, environment)
            }
        }
    }

    /// The variables that the command inherits: all but those that are replaced.
    private func inherited() -> [UnsafeMutablePointer<CChar>?] {
        let names = variables.map { "\($0.name)=" }
        return unsafe Inheritance.variables.filter { variable in
            !names.contains { unsafe strncmp(variable, $0, $0.utf8.count) == 0 }
        }
    }

    /// Makes a file without a name that contains a secret.
    private static func file(_ secret: borrowing SecretBytes) throws -> OpenFile {
        let file = try moved(csystem_memory_file())
        try secret.withBytes { try Descriptor(number: file.descriptor).write($0) }
        // Programs refuse a key that others could read, and a file that can be executed is one more way to misuse it.
        guard fchmod(file.descriptor, 0o400) == 0, lseek(file.descriptor, 0, SEEK_SET) == 0,
            csystem_seal(file.descriptor) == 0
        else { throw Failure.noFile(errno) }
        return file
    }

    /// Gives a descriptor, -1 for a failure, a number that shell scripts leave alone.
    private static func moved(_ descriptor: Int32) throws(Failure) -> OpenFile {
        guard descriptor >= 0 else { throw .noFile(errno) }
        defer { close(descriptor) }
        let number = fcntl(descriptor, F_DUPFD_CLOEXEC, firstFile)
        guard number >= 0 else { throw .noFile(errno) }
        return OpenFile(owning: number, path: "a file in memory")
    }
}
