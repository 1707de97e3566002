// Package cli is what the programs of this repository have in common at the
// command line: how a program starts and ends, subcommands, flags with their
// environment variables, help, exit codes and progress bars. What the commands
// do is their own.
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

// Env is what a command has of the world.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Lookup finds an environment variable, as os.LookupEnv does.
	Lookup func(string) (string, bool)

	program string // set by Run
}

// name is that of a command after the program's, which stands alone when the
// command has none.
func (e Env) name(command string) string { return strings.TrimSpace(e.program + " " + command) }

// Main runs a program and ends the process with its exit code. The context
// ends with SIGINT and SIGTERM.
func Main(program string, run func(ctx context.Context, e Env, args []string) error) {
	// Whatever is created is the owner's alone, also by SQLite, which creates
	// its log and shared memory for everybody that the umask does not exclude.
	syscall.Umask(0o077)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(Run(ctx, program, Env{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Lookup: os.LookupEnv}, os.Args[1:], run))
}

// errUsage is a fault of the command line that has been explained already.
var errUsage = errors.New("usage")

// Run carries out a command line, prints the error it ends with and gives the
// exit code.
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
		message = f.Message // the code is for programs
	}
	fmt.Fprintf(e.Stderr, "%s: %s\n", program, message)
	return ExitFailed
}

// Command is one word of the command line.
type Command struct {
	Name, Summary string
	Run           func(ctx context.Context, e Env, args []string) error
}

// Dispatch runs the command that the first word names, or explains them all:
// those of a group, or with no group those of the program.
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

// Flags makes the flag set of a command, or with no name that of the program;
// synopsis is what stands before the flags in its help.
func Flags(e Env, name, synopsis string) *flag.FlagSet {
	fs := flag.NewFlagSet(e.name(name), flag.ContinueOnError)
	fs.SetOutput(e.Stderr)
	fs.Usage = func() {
		fmt.Fprintf(fs.Output(), "usage: %s %s\n\nFlags (--some-name can also be set as ANODYNE_SOME_NAME in the environment):\n", e.program, synopsis)
		fs.PrintDefaults()
	}
	return fs
}

// OneOrMore is a number of words for Parse.
const OneOrMore = -1

// Parse reads flags and environment. Exactly want words may stand besides the
// flags, before or after them.
func Parse(e Env, fs *flag.FlagSet, args []string, want int) (words []string, err error) {
	explain := fs.Usage
	fs.Usage = func() {} // the flag package does not tell help from a fault
	for {
		if err := fs.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				fs.SetOutput(e.Stdout)
				explain()
				return nil, err
			}
			explain() // the flag package has said what is wrong
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
