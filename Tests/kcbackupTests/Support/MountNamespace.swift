import KCTestSupport

/// Mounts that only one program and what it starts can see.
enum MountNamespace {
    /// False where the kernel or a container does not let users have one.
    static let isAvailable: Bool = {
        do {
            return try ExternalProgram.run("unshare", ["--map-root-user", "--mount", "true"]).status == 0
        } catch {
            return false
        }
    }()
}
