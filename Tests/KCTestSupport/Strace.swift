import Foundation
package import Testing

/// strace(1), which sees the paths and descriptors even of a program that made itself undumpable.
///
/// Root has the right to see them. For others, a small library makes the program dumpable again at once. A user namespace would
/// give the right, too, but in it `/` belongs to nobody, so that the program trusts no folder. `$STRACE` is the command in
/// scripts of the shells.
package enum Strace {
    /// The words that start it, and the options and the program follow; nil if it is not installed or may not trace.
    private static let working: [String]? = {
        do {
            let command = try ["strace"] + (visibility.map { ["-E", $0] } ?? [])
            return try ExternalProgram.run("strace", command.dropFirst() + ["-qq", "-o", "/dev/null", "true"]).status
                == 0
                ? command : nil
        } catch {
            return nil
        }
    }()

    /// The words that start it; the options and the program follow.
    package static var command: [String] { working ?? ["strace"] }

    /// False if it is not installed, or may not trace, as in containers.
    fileprivate static var isAvailable: Bool { working != nil }

    /// The variable with which a program can be seen by its own user, who is not root; nil for root.
    package static var visibility: String? {
        get throws { geteuid() == 0 ? nil : "LD_PRELOAD=" + (try library.get().path("visible.so")) }
    }

    private static let library = Result {
        let folder = try TemporaryFolder.untilExit()
        try folder.write("visible.c", Array(source.utf8))
        let words = ["-shared", "-fPIC", "-O", "-o", folder.path("visible.so"), folder.path("visible.c")]
        let compiled = try ExternalProgram.run("clang", words)
        guard compiled.status == 0 else { throw CocoaError(.executableNotLoadable) }
        return folder
    }

    private static let source = """
        #include <stdarg.h>
        #include <sys/prctl.h>
        #include <sys/syscall.h>
        #include <unistd.h>

        int prctl(int option, ...) {
            unsigned long words[4];
            va_list list;
            va_start(list, option);
            for (int i = 0; i < 4; i++) words[i] = va_arg(list, unsigned long);
            va_end(list);
            int result = (int)syscall(SYS_prctl, option, words[0], words[1], words[2], words[3]);
            if (option == PR_SET_DUMPABLE && words[0] == 0) syscall(SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0);
            return result;
        }

        """

    /// Runs it with options and a program.
    package static func run(
        _ arguments: [String], environment: [String: String]? = nil, in folder: String? = nil
    ) throws -> ExternalProgram.Outcome {
        try ExternalProgram.run(
            command[0], command.dropFirst() + arguments, environment: environment, in: folder)
    }
}

extension Trait where Self == ConditionTrait {
    /// The test runs where ``Strace`` does.
    package static var traced: Self {
        .enabled(if: Strace.isAvailable, "strace or clang is missing, or this process may not trace")
    }
}
