internal import ArgumentParser
internal import KCReportText

/// The output options that all commands share.
package struct StyleOptions: ParsableArguments {
    @Flag(name: OptionName.json.name, help: "Print one JSON object instead of text.")
    package var json = false

    @Flag(name: OptionName.quiet.name, help: "Print nothing but results, warnings and errors.")
    package var quiet = false

    @Flag(name: OptionName.verbose.name, help: "Print more.")
    package var verbose = false

    package init() {}

    package var style: OutputStyle { OutputStyle(isJSON: json, isQuiet: quiet, isVerbose: verbose) }

    /// Refuses contradictory options.
    package func check() throws(UsageProblem) {
        if quiet, verbose { throw .together(.quiet, .verbose) }
    }
}
