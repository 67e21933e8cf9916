internal import KCTerminal

/// The process entry point.
@main
struct Main {
    static func main() { CommandLineTool.program.runProcess() }
}
