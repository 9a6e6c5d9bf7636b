//go:build cgo

// Command parley-speech hosts the native speech engines of Parley: espeak-ng for
// synthesis ("parley-speech tts") and pocketsphinx for recognition ("parley-speech asr"),
// and what ONNX Runtime runs of networks that the operator brings: voices
// ("parley-speech supertonic") and the end of turns ("parley-speech turn"). The server
// starts it and speaks with it through standard input and output in the messages of
// package worker; it ends when its standard input closes.
//
// It is the only program of the project that links native libraries. Because
// espeak-ng is licensed under the GNU General Public License, version 3 or any
// later version, this program as a whole is GPL-3.0-or-later; the server, which
// only exchanges messages with it, is not.
package main

import (
	"bufio"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"parley/inference/worker"
)

// defaultModel is where Debian's pocketsphinx-en-us puts its model.
const defaultModel = "/usr/share/pocketsphinx/model/en-us"

func main() {
	flags := flag.NewFlagSet(worker.Program, flag.ExitOnError)
	flags.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: parley-speech tts | parley-speech [-model DIR] asr | parley-speech [-library FILE] -model DIR supertonic | parley-speech [-library FILE] -model FILE turn\nThe server starts this program; it takes messages on standard input.")
	}
	model := flags.String("model", "", "the model, a directory or a file; empty: the English one of pocketsphinx, in "+defaultModel)
	library := flags.String("library", "", "ONNX Runtime; empty: wherever the system has it")
	flags.Parse(os.Args[1:]) // ends the program on an error
	in := worker.NewReader(bufio.NewReaderSize(os.Stdin, 64<<10))
	out := worker.NewWriter(os.Stdout)
	var err error
	switch flags.Arg(0) {
	case "tts":
		err = serveTTS(in, out, openEspeak)
	case "supertonic":
		err = serveTTS(in, out, func() (synthesiser, string, error) { return openNeural(*library, *model) })
	case "asr":
		err = serveASR(in, out, cmp.Or(*model, defaultModel))
	case "turn":
		err = serveTurns(in, out, *library, *model)
	default:
		flags.Usage()
		os.Exit(2)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	// What still runs is of no use to anyone: the server is gone.
}
