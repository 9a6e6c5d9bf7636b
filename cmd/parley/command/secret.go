package command

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// maxSecret bounds a line with a secret, in bytes.
const maxSecret = 16 << 10

// Secret asks a person for a secret, without showing it, or reads the first line of standard input.
func (j *Job) Secret(what string) (string, error) {
	in := j.InOrStdin()
	if IsTerminal(in) {
		restore, err := hidden(in)
		if err != nil {
			return "", err
		}
		defer restore()
		fmt.Fprintf(j.ErrOrStderr(), "%s: ", what)
		defer fmt.Fprintln(j.ErrOrStderr())
	}
	type read struct {
		text string
		err  error
	}
	line := make(chan read, 1)
	go func() { // a person may press Ctrl-C instead
		text, err := bufio.NewReader(io.LimitReader(in, maxSecret)).ReadString('\n')
		line <- read{text, err}
	}()
	var got read
	select {
	case got = <-line:
	case <-j.Ctx.Done():
		return "", j.Ctx.Err()
	}
	secret := strings.TrimSpace(got.text)
	switch {
	case got.err != nil && got.err != io.EOF:
		return "", got.err
	case secret == "":
		return "", UsageError("nothing was given")
	}
	return secret, nil
}
