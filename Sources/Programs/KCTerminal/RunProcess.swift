internal import Glibc
internal import KCByteStreams
internal import KCConsole
internal import KCLocalKeychains
internal import KCStoreTasks

extension Program {
    /// Runs the command line of this process, and ends the process.
    ///
    /// - Parameters:
    ///   - prepare: what is special about this program.
    ///   - run: runs the words of the command line; nil for the commands of the program.
    package func runProcess(
        _ prepare: (inout World) -> Void = { _ in }, run: (([String], World) -> ExitStatus)? = nil
    ) -> Never {
        ProcessSetup.run()
        var world = World.ofThisProcess()
        prepare(&world)
        UnsweptFolders.keep(in: world.machine.dataFolder.path)
        let status: ExitStatus
        do throws(ProcessArguments.Unreadable) {
            let words = try ProcessArguments.words()
            status = run?(words, world) ?? self.run(words, in: world)
        } catch {
            status = refuse(error, among: CommandLine.arguments.dropFirst(), in: world)
        }
        UnsweptFolders.finish()
        if status == .brokenPipe { ProcessSetup.dieOfBrokenPipe() }
        exit(status.code)
    }
}
