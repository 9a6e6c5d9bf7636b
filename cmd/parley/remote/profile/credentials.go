package profile

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"parley/cmd/parley/command"
)

// profile is a server and a key for it, as parley login has left them.
type profile struct {
	URL     string `yaml:"url"`
	Key     string `yaml:"key"`
	Account string `yaml:"account"` // identifier and name of the key's account, for people
	Name    string `yaml:"name"`
}

// credentials are the profiles of a user of this machine.
type credentials struct {
	path     string
	Current  string             `yaml:"current"` // used unless another is named; may be empty
	Profiles map[string]profile `yaml:"profiles"`
}

// standardProfile is the name of the profile of people who need one only.
const standardProfile = "default"

// maxCredentials bounds the file of profiles, in bytes.
const maxCredentials = 1 << 20

// errNoHome: the machine has no directory for what a user keeps.
var errNoHome = errors.New("there is no place for profiles")

// profileName is what a profile may be called.
var profileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$`)

// loadCredentials reads the profiles of the user. Where none were stored, there are none. Errors never quote
// the file, for it has keys.
func loadCredentials() (*credentials, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoHome, err)
	}
	c := &credentials{path: filepath.Join(dir, "parley", "credentials.yaml"), Profiles: map[string]profile{}}
	info, err := os.Stat(c.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return c, nil
	case err != nil:
		return nil, err
	case info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("%s has keys, and other users may open it: chmod 600 %s", c.path, c.path)
	case info.Size() > maxCredentials:
		return nil, fmt.Errorf("%s is too large", c.path)
	}
	text, err := os.ReadFile(c.path)
	if err != nil {
		return nil, err
	}
	if yaml.Unmarshal(text, c) != nil {
		return nil, fmt.Errorf("%s cannot be read: move it away and log in again", c.path)
	}
	if c.Profiles == nil {
		c.Profiles = map[string]profile{}
	}
	return c, nil
}

// save writes the profiles, all or none, for their user alone.
func (c *credentials) save() error {
	text, err := yaml.Marshal(c)
	if err != nil {
		return err
	}
	dir := filepath.Dir(c.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".credentials-*") // 0600 from the beginning
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), c.path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// find is the profile of that name, the current one when name is empty. false: none is named and none is current.
func (c *credentials) find(name string) (profile, bool, error) {
	if name == "" {
		p, is := c.Profiles[c.Current]
		return p, is, nil
	}
	p, is := c.Profiles[name]
	if !is {
		return p, false, command.UsageError(fmt.Sprintf("there is no profile %q: parley login --profile %s makes it, parley profile list shows those that there are", name, name))
	}
	return p, true, nil
}

// Find is the profile of that name, the current one when name is empty. false: none is named and none is current, or
// this machine keeps nothing for its users.
func Find(name string) (profile, bool, error) {
	c, err := loadCredentials()
	if err != nil && name == "" && errors.Is(err, errNoHome) {
		return profile{}, false, nil
	}
	if err != nil {
		return profile{}, false, err
	}
	return c.find(name)
}

// names are those of the profiles, in their order.
func (c *credentials) names() []string { return slices.Sorted(maps.Keys(c.Profiles)) }

// SameServer says whether two addresses are of one server, as people write them.
func SameServer(a, b string) bool {
	return strings.EqualFold(strings.TrimRight(a, "/"), strings.TrimRight(b, "/"))
}

// DefaultURL is where a server is that nobody has moved.
const DefaultURL = "http://127.0.0.1:8080"
