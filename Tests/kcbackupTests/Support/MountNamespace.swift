import KCTerminal
import KCTestSupport

/// Mounts that only one program and what it starts can see.
enum MountNamespace {
    /// False where the kernel or a container does not let users have one, and for users but root: to them `/` belongs to nobody
    /// there, so that the program trusts no folder.
    static let isAvailable: Bool = {
        do {
            return try ExternalProgram.run("unshare", ["--map-root-user", "--mount", "test", "-O", "/"]).status == 0
        } catch {
            return false
        }
    }()
}
