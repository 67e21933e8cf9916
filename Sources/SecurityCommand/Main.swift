internal import Console
internal import Foundation

/// The process: everything that is not the program itself is made here and handed down as one `World`.
@main
struct Main {
    static func main() {
        ProcessSetup.run()
        let arguments = Array(CommandLine.arguments.dropFirst())
        let status = SecurityCommand.run(arguments, in: World.ofThisProcess())
        if status == .brokenPipe { ProcessSetup.dieOfBrokenPipe() }
        exit(status.code)
    }
}
