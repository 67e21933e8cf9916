internal import Glibc
internal import KCByteStreams
internal import KCConsole
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// The process entry point; everything outside the program is created here and passed down as one `World`.
@main
struct Main {
    static func main() {
        ProcessSetup.run()
        let world = World.ofThisProcess()
        UnsweptFolders.keep(in: world.machine.dataFolder.path)
        let program = CommandLineTool.program
        let status: ExitStatus
        do throws(ProcessArguments.Unreadable) {
            let words = try ProcessArguments.words()
            status =
                AgePlugin.isMeant
                ? AgePlugin.run(words, Descriptor.standardInput, in: world) : program.run(words, in: world)
        } catch {
            status = program.refuse(error, among: CommandLine.arguments.dropFirst(), in: world)
        }
        UnsweptFolders.finish()
        if status == .brokenPipe { ProcessSetup.dieOfBrokenPipe() }
        exit(status.code)
    }
}
