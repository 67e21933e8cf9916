internal import Glibc
internal import KCConsole

/// The process entry point; everything outside the program is created here and passed down as one `World`.
@main
struct Main {
    static func main() {
        ProcessSetup.run()
        let world = World.ofThisProcess()
        let status: ExitStatus
        do throws(ProcessArguments.Unreadable) {
            status = try KCSecurityCommand.run(ProcessArguments.words(), in: world)
        } catch {
            status = refuse(error, in: world)
        }
        if status == .brokenPipe { ProcessSetup.dieOfBrokenPipe() }
        exit(status.code)
    }
}
