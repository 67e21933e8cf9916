package import KCByteStreams

/// A program that belongs to this one.
package enum CompanionProgram {
    /// A companion that others could have put there.
    package struct Replaceable: Error, Hashable, Sendable {
        /// The path of the companion.
        package let path: String
        /// Who could have.
        package let failure: FileFailure

        package init(_ path: String, _ failure: FileFailure) {
            self.path = path
            self.failure = failure
        }
    }

    /// The path of a companion.
    ///
    /// If the folder of this program is named `bin`, its companions are in `libexec/kcbackup` beside that; else they
    /// are beside it. `PATH` and the working folder are not searched.
    package static func path(of name: String) -> String {
        path(of: name, beside: ProcessEnvironment.program)
    }

    static func path(of name: String, beside program: String) -> String {
        // Where the kernel does not tell the path, only the place of packages is left.
        guard program.exact.hasPrefix("/") else { return "/usr/libexec/kcbackup/\(name)" }
        let (folder, _) = Path.split(program)
        let (prefix, last) = Path.split(folder)
        return last.exact == "bin" ? "\(prefix == "/" ? "" : prefix)/libexec/kcbackup/\(name)" : "\(folder)/\(name)"
    }

    /// Checks that a companion cannot be replaced by users who cannot replace this program.
    ///
    /// A missing one passes: starting it says so.
    package static func require(_ path: String) throws(Replaceable) {
        do throws(FileFailure) {
            try require(path, of: ProcessEnvironment.program)
        } catch {
            if error.problem != .notFound { throw Replaceable(path, error) }
        }
    }

    static func require(_ path: String, of program: String) throws(FileFailure) {
        let isPrivate: Bool
        do throws(FileFailure) {
            try PrivateProgram.require(program)
            isPrivate = true
        } catch {
            isPrivate = false
        }
        if isPrivate { return try PrivateProgram.require(path) }
        try PrivateProgram.requireOwner(of: path, orOf: program)
    }
}
