internal import KCByteStreams

/// A program that belongs to this one.
package enum CompanionProgram {
    /// The path of a companion.
    ///
    /// If the folder of this program is named `bin`, its companions are in `libexec/kcbackup` beside that; else they
    /// are beside it. `PATH` is not searched.
    package static func path(of name: String) -> String {
        let (folder, _) = Path.split(ProcessEnvironment.program)
        let (prefix, last) = Path.split(folder)
        // Beside any other folder, such as one in /tmp, it could be anybody's.
        return last.exact == "bin" ? "\(prefix)/libexec/kcbackup/\(name)" : "\(folder)/\(name)"
    }
}
