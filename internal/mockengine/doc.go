// Package mockengine is an engine for tests, by UCI and, after the line "xboard",
// by CECP. It plays crazyhouse and chess, badly and always the same, and misbehaves
// when its script says so.
//
// A test binary becomes the engine by a line in TestMain:
//
//	func TestMain(m *testing.M) {
//		mockengine.Main()
//		os.Exit(m.Run())
//	}
//
// and [Command] gives the command line to start it with.
//
// # Scripts
//
// A script is steps with semicolons between them, a step the command that
// triggers it and actions with bars between them:
//
//	go#3: print info string oops | exit 134; quit: sleep 1m
//
// A trigger is the first word of a command, or "start" for the moment before the
// first is read. After it #3 means only the third such command, #3+ that and
// all later ones; without either the step is for all of them. The actions of
// the first step that fits a command take the place of what an engine does:
//
//	obey          what an engine does with the command, all the same
//	print TEXT    write a line
//	complain TEXT write a line on standard error
//	echo          write the command on standard error
//	sleep TIME    wait, e.g. 50ms
//	think         of go: search until "stop" or "?" comes
//	exit STATUS   end
//	kill          end by a signal
//	hang          do nothing any more, and read nothing
//	flood         write lines of info for ever
//	endless       write a line without end
//	close         close the output, and go on reading
//	child         start a process that keeps the output open, and go on
//
// A script without text is an engine without fault.
package mockengine
