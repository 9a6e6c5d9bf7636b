package server

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"parley/api/client"
	"parley/api/wire"
	"parley/cmd/parley/command"
)

// ErrShown ends a command whose request was shown in place of being sent.
var ErrShown = errors.New("the request was shown and not sent")

// ErrNoCurl: curl cannot do what a command does.
var ErrNoCurl = command.UsageError("--curl: this goes over a WebSocket, which is no request that curl sends")

// curl takes requests that are to be shown: it prints each as a command of a shell.
type curl struct {
	out  io.Writer
	told io.Writer // for what a person should know besides
}

// maxShown bounds the body that is part of a printed command, in bytes: shells take no longer words.
const maxShown = 100 << 10

// RoundTrip implements http.RoundTripper. It always fails: with errShown when the request was printed.
func (c *curl) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		defer r.Body.Close()
	}
	body, err := c.body(r)
	if err != nil {
		return nil, err
	}
	var options []string
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		switch name {
		case "Authorization":
			options = append(options, wire.CurlKey)
		case "Content-Type", "Expect": // of a form curl makes its own
		default:
			options = append(options, "-H "+wire.ShellWord(name+": "+r.Header.Get(name)))
		}
	}
	address := *r.URL
	address.User = nil
	if _, err := fmt.Fprintln(c.out, wire.Curl(r.Method, wire.ShellWord(address.String()), append(options, body...)...)); err != nil {
		return nil, err
	}
	return nil, ErrShown
}

// body are the options that send the body of a request. A secret is not printed: curl reads it where this command
// has read it.
func (c *curl) body(r *http.Request) ([]string, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	kind := r.Header.Get("Content-Type")
	media, parameters, _ := mime.ParseMediaType(kind)
	of := "-H " + wire.ShellWord("Content-Type: "+kind)
	if media == "multipart/form-data" {
		return form(multipart.NewReader(r.Body, parameters["boundary"]))
	}
	if r.Method == http.MethodPut && (strings.Contains(r.URL.Path, "/v1/secrets/") || strings.Contains(r.URL.Path, "/v1/engine-keys/")) {
		fmt.Fprintln(c.told, "the body has a secret: curl reads it, as JSON, from standard input")
		return []string{of, "-d @-"}, nil
	}
	text, err := io.ReadAll(io.LimitReader(r.Body, maxShown+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > maxShown:
		fmt.Fprintln(c.told, "the body is long: curl reads it from standard input")
		return []string{of, "--data-binary @-"}, nil
	case media == "application/json":
		return []string{of, "-d " + wire.ShellWord(string(text))}, nil
	}
	return []string{of, "--data-raw " + wire.ShellWord(string(text))}, nil
}

// form are the options that send a form. In the place of a file stands FILE.
func form(parts *multipart.Reader) (options []string, err error) {
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return options, nil
		}
		if err != nil {
			return nil, err
		}
		if part.FileName() != "" {
			options = append(options, "-F "+part.FormName()+"=@FILE")
			continue
		}
		value, err := io.ReadAll(io.LimitReader(part, maxShown))
		if err != nil {
			return nil, err
		}
		options = append(options, "--form-string "+wire.ShellWord(part.FormName()+"="+string(value)))
	}
}

// Showing has a command, and those below it, end well when its request was shown.
func Showing(cmd *cobra.Command) *cobra.Command {
	if run := cmd.RunE; run != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			switch err := run(cmd, args); {
			case errors.Is(err, ErrShown):
				return nil
			case errors.Is(err, client.ErrDiverted):
				return ErrNoCurl
			default:
				return err
			}
		}
	}
	for _, sub := range cmd.Commands() {
		Showing(sub)
	}
	return cmd
}
