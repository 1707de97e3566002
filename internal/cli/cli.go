// Package cli holds what the programs of this repository share at the command
// line: startup and exit, subcommands, flags with environment variables, help,
// exit codes and progress bars. The commands themselves are in cmd.
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"anodyne.example/anodyne/internal/config"
	"anodyne.example/anodyne/internal/fault"
)

// Exit codes.
const (
	ExitOK     = 0
	ExitFailed = 1
	ExitUsage  = 2
)

// Env is the environment a command runs in.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Lookup finds an environment variable, as os.LookupEnv does.
	Lookup func(string) (string, bool)

	program string // set by Run
}

// name returns the name of a command with the program's name before it.
func (e Env) name(command string) string { return strings.TrimSpace(e.program + " " + command) }

// Main runs a program and exits with its exit code. The context ends on SIGINT
// and SIGTERM.
func Main(program string, run func(ctx context.Context, e Env, args []string) error) {
	// New files are accessible to their owner only. This includes the log and
	// shared memory of SQLite, which it creates with the permissions that the
	// umask leaves.
	syscall.Umask(0o077)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(Run(ctx, program, Env{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Lookup: os.LookupEnv}, os.Args[1:], run))
}

// errUsage is a usage error that has already been explained.
var errUsage = errors.New("usage")

// Run runs a command line, prints its error and returns the exit code.
func Run(ctx context.Context, program string, e Env, args []string, run func(ctx context.Context, e Env, args []string) error) int {
	e.program = program
	err := run(ctx, e, args)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return ExitOK
	case errors.Is(err, errUsage):
		return ExitUsage
	}
	message := err.Error()
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Cause == nil {
		message = f.Message // the code is meant for programs
	}
	fmt.Fprintf(e.Stderr, "%s: %s\n", program, message)
	return ExitFailed
}

// Command is a subcommand.
type Command struct {
	Name, Summary string
	Run           func(ctx context.Context, e Env, args []string) error
}

// Dispatch runs the command named by the first argument, or prints the help of
// all commands: those of group, or those of the program if group is empty.
func Dispatch(ctx context.Context, e Env, group string, args []string, list []Command) error {
	prefix := e.name(group)
	if len(args) == 0 {
		usage(e.Stderr, prefix, list)
		return errUsage
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		usage(e.Stdout, prefix, list)
		return nil
	}
	for _, c := range list {
		if c.Name == args[0] {
			return c.Run(ctx, e, args[1:])
		}
	}
	fmt.Fprintf(e.Stderr, "%s: unknown command %q\n\n", prefix, args[0])
	usage(e.Stderr, prefix, list)
	return errUsage
}

func usage(w io.Writer, prefix string, list []Command) {
	fmt.Fprintf(w, "usage: %s COMMAND [flags]\n\n", prefix)
	for _, c := range list {
		fmt.Fprintf(w, "  %-10s %s\n", c.Name, c.Summary)
	}
	fmt.Fprintf(w, "\nRun %s COMMAND --help for help on a command.\n", prefix)
}

// Flags returns the flag set of a command, or of the program if name is empty.
// synopsis is the text before the flags in its help.
func Flags(e Env, name, synopsis string) *flag.FlagSet {
	fs := flag.NewFlagSet(e.name(name), flag.ContinueOnError)
	fs.SetOutput(e.Stderr)
	fs.Usage = func() {
		fmt.Fprintf(fs.Output(), "usage: %s %s\n\nFlags (--some-name can also be set as ANODYNE_SOME_NAME in the environment):\n", e.program, synopsis)
		fs.PrintDefaults()
	}
	return fs
}

// OneOrMore makes Parse accept any number of arguments except none.
const OneOrMore = -1

// Parse parses flags and their environment variables. It expects exactly want
// other arguments, before or after the flags.
func Parse(e Env, fs *flag.FlagSet, args []string, want int) (words []string, err error) {
	explain := fs.Usage
	fs.Usage = func() {} // the flag package does not distinguish help from errors
	for {
		if err := fs.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				fs.SetOutput(e.Stdout)
				explain()
				return nil, err
			}
			explain() // the flag package has printed the error
			return nil, errUsage
		}
		if fs.NArg() == 0 {
			break
		}
		words, args = append(words, fs.Arg(0)), fs.Args()[1:]
	}
	if want == OneOrMore {
		want = max(1, len(words))
	}
	if len(words) != want {
		fmt.Fprintf(e.Stderr, "%s: want %d arguments besides flags, got %d\n", fs.Name(), want, len(words))
		explain()
		return nil, errUsage
	}
	if err := config.FromEnvironment(fs, e.Lookup); err != nil {
		fmt.Fprintln(e.Stderr, err)
		return nil, errUsage
	}
	return words, nil
}
