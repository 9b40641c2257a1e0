import CrashScenarios
import Foundation

// Started by tests, see CrashRun: does a piece of work again and again, each time in a process of its own
// that is stopped at another call.
exit(CrashTool.main(CommandLine.arguments))
