/// Runs shell scripts with the real programs, `$KCBACKUP` and `$SECURITY`, in a home folder of its own.
///
/// In a script, `inject FAULT COMMAND…` runs a command under strace(1), which injects a fault into its system calls; the
/// test is `.traced`, as one that uses `$STRACE`.
package struct ProgramShell: Sendable {
    private let folder: TemporaryFolder
    private let environment: [String: String]

    /// Makes an empty home folder.
    package init() throws {
        folder = try TemporaryFolder()
        environment = [
            "HOME": folder.path, "PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "TZ": "UTC",
            "KCBACKUP": try ExternalProgram.built("kcbackup"),
            "SECURITY": try ExternalProgram.built("security"), "STRACE": Strace.command.joined(separator: " "),
            "SWIFT_BACKTRACE": "enable=no",
        ]
    }

    /// Runs a bash script in the home folder, for five minutes at most, so that a script that hangs fails.
    package func callAsFunction(_ script: String) throws -> ExternalProgram.Outcome {
        let helper = """
            inject() { local fault=$1; shift; $STRACE -f -qq -o /dev/null -e trace=all -e "inject=$fault" "$@"; }

            """
        return try ExternalProgram.run(
            "timeout", ["300", "bash", "-c", helper + script], environment: environment, in: folder.path)
    }
}
