// Package remote has the commands that are clients of a running server, or of any telephone: they know it by its
// address alone.
package remote

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"parley/api/client"
	"parley/cmd/parley/command"
	"parley/media"
	"parley/media/wav"
)

// Commands are the commands of this package, but for DemoLink.
func Commands() []*cobra.Command {
	all := []*cobra.Command{newTalkCommand(), newPhoneCommand(), newSynthCommand(), newTranscribeCommand(), newDenoiseCommand(), newBalanceCommand(),
		newUsageCommand(), newRatesCommand(), newDialCommand(), newBulkCommand(), newCallsCommand(), newTailCommand(), newRequestsCommand(), newLogsCommand(),
		newAccountCommand(), newAgentCommand(), newTestCommand(), newCaseCommand(), newKnowledgeCommand(), newNumberCommand(), newTrunkCommand(), newDoNotCallCommand(), newConsentsCommand(), newLatencyCommand(), newWebhookCommand(), newListenCommand(),
		newKeyCommand(), newSecretCommand(), newEngineKeyCommand(), newLoginCommand(), newLogoutCommand(), newProfileCommand()}
	for _, c := range all {
		showing(c)
	}
	return all
}

// defaultURL is where a server is that nobody has moved.
const defaultURL = "http://127.0.0.1:8080"

// remote is where the server is and the key for it, as the commands that talk to
// one are listed.
type remote struct {
	url, key string // of the command line; once found, those to use
	profile  string // of the command line
	curl     bool   // requests are shown and not sent
	found    bool
	cmd      *cobra.Command
}

// remoteFlags adds the flags of a command that talks to a server. None has its value of the environment
// as a default: --help would show it.
func remoteFlags(cmd *cobra.Command) *remote {
	r := &remote{cmd: cmd}
	fl := cmd.Flags()
	fl.StringVar(&r.url, "url", "", "address of the server (PARLEY_URL; otherwise that of the profile, or "+defaultURL+")")
	fl.StringVar(&r.key, "key", "", "API key (PARLEY_API_KEY; otherwise that of the profile)")
	fl.StringVar(&r.profile, "profile", "", "profile of parley login to use, whatever the environment says (PARLEY_PROFILE; otherwise the one in use)")
	if fl.Lookup("curl") == nil { // otherwise it has one that says something else
		fl.BoolVar(&r.curl, "curl", false, "print the request as a curl command, for a shell with PARLEY_API_KEY, and send nothing; of several the first")
	}
	completeProfiles(cmd)
	return r
}

// find completes the address and the key: a flag goes over the environment, and that over the profile in use. A
// profile that the command line names goes over the environment, too: who writes it means that account.
func (r *remote) find() error {
	if r.found {
		return nil
	}
	env := os.Getenv
	if r.profile != "" {
		env = func(string) string { return "" }
	}
	r.key, r.url = cmp.Or(r.key, env("PARLEY_API_KEY")), cmp.Or(r.url, env("PARLEY_URL"))
	if r.key == "" || r.url == "" {
		if err := r.complete(cmp.Or(r.profile, env("PARLEY_PROFILE"))); err != nil {
			return err
		}
	}
	r.url, r.found = cmp.Or(r.url, defaultURL), true
	return nil
}

// complete takes what is missing from the profile of that name, or the one in use. A profile's key goes to its
// own server only.
func (r *remote) complete(name string) error {
	c, err := loadCredentials()
	if err != nil && name == "" && errors.Is(err, errNoHome) {
		return nil
	}
	if err != nil {
		return err
	}
	p, is, err := c.find(name)
	switch {
	case err != nil || !is:
		return err
	case r.url == "":
		r.url = p.URL
	case !sameServer(r.url, p.URL):
		return nil
	}
	r.key = cmp.Or(r.key, p.Key)
	return nil
}

// client is one for the server. A key that is missing is said before anything is
// read or sent.
func (r *remote) client() (*client.Client, error) {
	if err := r.find(); err != nil {
		return nil, err
	}
	if r.key == "" && r.curl {
		r.key = "none" // the shell's will be there
	}
	if r.key == "" {
		return nil, command.UsageError("an API key for " + r.url + " is needed: log in with parley login, set PARLEY_API_KEY, or use --key")
	}
	return r.public()
}

// public is a client for routes that need no key.
func (r *remote) public() (*client.Client, error) {
	if err := r.find(); err != nil {
		return nil, err
	}
	c, err := client.New(r.url, r.key)
	if err != nil {
		return nil, command.UsageError("--url: " + err.Error())
	}
	if r.curl {
		c.Divert(&curl{r.cmd.OutOrStdout(), r.cmd.ErrOrStderr()})
	}
	return c, nil
}

// request is a command on its way to the server.
type request struct {
	*command.Job
	*client.Client
}

// ask makes cmd a command that asks the server by run. jsonHelp says what --json prints.
func ask(cmd *cobra.Command, jsonHelp string, run func(q *request, args []string) error) *cobra.Command {
	r := remoteFlags(cmd)
	return command.Interruptible(cmd, jsonHelp, func(j *command.Job, args []string) error {
		c, err := r.client()
		if err != nil {
			return err
		}
		return run(&request{j, c}, args)
	})
}

// agentPatience is how long a person who pressed Tab waits for a server.
const agentPatience = time.Second

// completeAgents completes the identifiers of --agent by asking the server.
func completeAgents(cmd *cobra.Command) {
	_ = cmd.RegisterFlagCompletionFunc("agent", func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return agentIDs(cmd), cobra.ShellCompDirectiveNoFileComp
	})
}

// output is where a command writes sound: a file that appears when it is complete,
// or standard output.
type output struct {
	io.Writer
	file *os.File // nil: not ours
	path string
}

// openOutput opens path, "-" for standard output. An empty path is standard output
// too, unless that is a terminal: sound is not for reading. What is wrong with path
// is found out here, before anything was paid for.
func openOutput(cmd *cobra.Command, path string, asJSON bool) (*output, error) {
	if path == "" || path == "-" {
		switch {
		case asJSON:
			return nil, command.UsageError("--json and the sound cannot both go to standard output: use --out FILE")
		case command.IsTerminal(cmd.OutOrStdout()):
			return nil, command.UsageError("sound is not written to a terminal: use --out FILE, or a pipe")
		}
		return &output{Writer: cmd.OutOrStdout(), path: "-"}, nil
	}
	info, err := os.Stat(path)
	name, flags := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".partial"), os.O_RDWR|os.O_CREATE|os.O_TRUNC
	if err == nil && !info.Mode().IsRegular() { // a device or a pipe takes things as they come
		name, flags = path, os.O_WRONLY
	}
	f, err := os.OpenFile(name, flags, 0o666)
	if err != nil {
		return nil, err
	}
	return &output{f, f, path}, nil
}

// write opens the output at path and has f write it, showing how far it is. The output appears
// when it is complete.
func (q *request) write(path string, f func(to *output, show *command.Progress) error) error {
	to, err := openOutput(q.Command, path, q.JSON)
	if err != nil {
		return err
	}
	show := command.NewProgress(q.Command, q.JSON)
	defer show.End()
	return to.finish(f(to, show))
}

// finish closes the output; with no fault it gets its name, else it is gone. It
// returns the fault, or that of closing. After the first time it does nothing more.
func (o *output) finish(fault error) error {
	f := o.file
	o.file = nil
	if f == nil {
		return fault
	}
	err := errors.Join(fault, f.Close())
	if f.Name() == o.path {
		return err
	}
	if err == nil {
		return os.Rename(f.Name(), o.path)
	}
	os.Remove(f.Name()) // what is left of it is hidden, and overwritten the next time
	return err
}

// abandon drops an output that was not finished.
func (o *output) abandon() { _ = o.finish(context.Canceled) }

// clip writes samples as a WAV file and finishes. A nil output takes nothing.
func (o *output) clip(samples []int16, rate media.Rate) error {
	if o == nil {
		return nil
	}
	return o.finish(wav.Encode(o, wav.Clip{Samples: samples, Rate: rate}))
}

// openInput opens a file, "-" for standard input.
func openInput(cmd *cobra.Command, path string) (io.ReadCloser, error) {
	if path == "-" {
		return io.NopCloser(cmd.InOrStdin()), nil
	}
	return os.Open(path)
}

// openRecording opens a file to send, "-" for standard input, and says how long it
// is.
func openRecording(cmd *cobra.Command, path string) (r client.Recording, done func(), err error) {
	if path == "-" {
		// The server wants to know the size, and takes no more than this.
		b, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), client.MaxUpload+1))
		if err != nil {
			return r, nil, fmt.Errorf("standard input: %w", err)
		}
		return client.Recording{Data: bytes.NewReader(b), Size: int64(len(b))}, func() {}, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return r, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: not a file; use - and a pipe", path)
	}
	if err != nil {
		f.Close()
		return r, nil, err
	}
	return client.Recording{Data: f, Size: info.Size()}, func() { f.Close() }, nil
}

// thousandth rounds seconds to milliseconds.
func thousandth(seconds float64) float64 { return float64(int64(seconds*1000+0.5)) / 1000 }
