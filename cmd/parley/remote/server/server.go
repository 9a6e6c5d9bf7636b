// Package server is the running server as commands know it: its address and a key for it, requests, and the files that go to it and
// come from it.
package server

import (
	"cmp"
	"os"

	"github.com/spf13/cobra"

	"parley/api/client"
	"parley/cmd/parley/command"
	"parley/cmd/parley/remote/profile"
)

// Address is where the server is and the key for it. URL and Key are what the command line says until Client or Public
// completes them from the environment and the profiles.
type Address struct {
	URL, Key string
	Profile  string // of the command line; empty: the one in use
	Curl     bool   // requests are shown and not sent
	found    bool
	cmd      *cobra.Command
}

// Flags adds the flags of a command that talks to a server. None has its value of the environment
// as a default: --help would show it.
func Flags(cmd *cobra.Command) *Address {
	r := &Address{cmd: cmd}
	fl := cmd.Flags()
	fl.StringVar(&r.URL, "url", "", "address of the server (PARLEY_URL; otherwise that of the profile, or "+profile.DefaultURL+")")
	fl.StringVar(&r.Key, "key", "", "API key (PARLEY_API_KEY; otherwise that of the profile)")
	fl.StringVar(&r.Profile, "profile", "", "profile of parley login to use, whatever the environment says (PARLEY_PROFILE; otherwise the one in use)")
	if fl.Lookup("curl") == nil { // otherwise it has one that says something else
		fl.BoolVar(&r.Curl, "curl", false, "print the request as a curl command, for a shell with PARLEY_API_KEY, and send nothing; of several the first")
	}
	profile.Complete(cmd)
	return r
}

// find completes the address and the key: a flag goes over the environment, and that over the profile in use. A
// profile that the command line names goes over the environment, too: who writes it means that account.
func (r *Address) find() error {
	if r.found {
		return nil
	}
	env := os.Getenv
	if r.Profile != "" {
		env = func(string) string { return "" }
	}
	r.Key, r.URL = cmp.Or(r.Key, env("PARLEY_API_KEY")), cmp.Or(r.URL, env("PARLEY_URL"))
	if r.Key == "" || r.URL == "" {
		if err := r.complete(cmp.Or(r.Profile, env("PARLEY_PROFILE"))); err != nil {
			return err
		}
	}
	r.URL, r.found = cmp.Or(r.URL, profile.DefaultURL), true
	return nil
}

// complete takes what is missing from the profile of that name, or the one in use. A profile's key goes to its
// own server only.
func (r *Address) complete(name string) error {
	p, is, err := profile.Find(name)
	switch {
	case err != nil || !is:
		return err
	case r.URL == "":
		r.URL = p.URL
	case !profile.SameServer(r.URL, p.URL):
		return nil
	}
	r.Key = cmp.Or(r.Key, p.Key)
	return nil
}

// Client is one for the server. A key that is missing is said before anything is
// read or sent.
func (r *Address) Client() (*client.Client, error) {
	if err := r.find(); err != nil {
		return nil, err
	}
	if r.Key == "" && r.Curl {
		r.Key = "none" // the shell's will be there
	}
	if r.Key == "" {
		return nil, command.UsageError("an API key for " + r.URL + " is needed: log in with parley login, set PARLEY_API_KEY, or use --key")
	}
	return r.Public()
}

// Public is a client for routes that need no key.
func (r *Address) Public() (*client.Client, error) {
	if err := r.find(); err != nil {
		return nil, err
	}
	c, err := client.New(r.URL, r.Key)
	if err != nil {
		return nil, command.UsageError("--url: " + err.Error())
	}
	if r.Curl {
		c.Divert(&curl{r.cmd.OutOrStdout(), r.cmd.ErrOrStderr()})
	}
	return c, nil
}
