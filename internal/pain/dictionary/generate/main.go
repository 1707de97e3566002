// Command generate writes the data files of package dictionary. It is run by
// go generate; docs/medicines.md says how to bring in a new release.
//
//	generate -rrf rrf -release 2025-11-03    a release of RxNorm as NLM publishes it
//	generate -tables dir -release 2025-10-06 the tables that the first release came in
//
// What an earlier release had and the new one has not is kept and marked as
// retired, because records of the past name it. A class is never guessed: an
// ingredient that is new gets the class "?", which package dictionary does not
// understand and its tests do not accept, until somebody writes a class there.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("generate", flag.ContinueOnError)
	rrf := flags.String("rrf", "", "folder with RXNCONSO.RRF, RXNREL.RRF and RXNSAT.RRF")
	tables := flags.String("tables", "", "folder with the tables of the first release")
	date := flags.String("release", "", "date of the release, YYYY-MM-DD")
	data := flags.String("data", "data", "folder of the data files to write")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if (*rrf == "") == (*tables == "") {
		return errors.New("give either -rrf or -tables")
	}
	if !regexp.MustCompile(`^\d{4}-\d\d-\d\d$`).MatchString(*date) {
		return errors.New("give the date of the release with -release YYYY-MM-DD")
	}
	known, err := readData(*data)
	if err != nil {
		return err
	}
	var r *release
	if *rrf != "" {
		r, err = readRRF(*rrf)
	} else {
		r, err = readTables(*tables, known)
	}
	if err != nil {
		return err
	}
	r.date = *date
	r.keep(known)
	if err := r.write(*data); err != nil {
		return err
	}
	return r.report(os.Stdout)
}
