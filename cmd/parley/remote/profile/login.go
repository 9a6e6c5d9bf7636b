package profile

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"parley/api/client"
	"parley/cmd/parley/command"
)

func newLoginCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "login", Short: "Store a key for the commands that talk to a server",
		Long: "Asks for an API key, or reads it from standard input, tries it, and stores it with the server's address as a profile, in a file that\n" +
			"only you may read. Commands use the profile that logged in last, or parley profile use has chosen, or --profile or\n" +
			"PARLEY_PROFILE names. PARLEY_API_KEY and PARLEY_URL go over it, and a flag over all. A profile's key is sent to its own server only.",
		Example: "  parley login --url https://voice.example.com\n  parley login --profile staging --url https://staging.example.com < key.txt", Args: cobra.NoArgs}
	name := cmd.Flags().String("profile", "", "name of the profile (otherwise the one in use, or "+standardProfile+")")
	url := cmd.Flags().String("url", "", "address of the server (PARLEY_URL; otherwise that of the profile, or "+DefaultURL+")")
	Complete(cmd)
	return command.Interruptible(cmd, command.OneObject, func(j *command.Job, _ []string) error {
		c, err := loadCredentials()
		if err != nil {
			return err
		}
		named := cmp.Or(*name, os.Getenv("PARLEY_PROFILE"), c.Current, standardProfile)
		if !profileName.MatchString(named) {
			return command.UsageError("a profile's name has up to 40 letters, digits, dots, _ and -")
		}
		p := c.Profiles[named] // empty: it is made
		p.URL = cmp.Or(*url, os.Getenv("PARLEY_URL"), p.URL, DefaultURL)
		if p.Key, err = j.Secret("API key for " + p.URL); err != nil {
			return err
		}
		if strings.ContainsFunc(p.Key, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }) {
			return command.UsageError("that is no API key: it has spaces")
		}
		server, err := client.New(p.URL, p.Key)
		if err != nil {
			return command.UsageError("--url: " + err.Error())
		}
		a, err := server.Account(j.Ctx)
		if err != nil {
			return err
		}
		p.Account, p.Name = a.ID, a.Name
		c.Profiles[named], c.Current = p, named
		if err := c.save(); err != nil {
			return err
		}
		return j.AnswerText(viewProfile(c, named), fmt.Sprintf("logged in to %s (%s) at %s as profile %s\n", p.Name, p.Account, p.URL, named))
	})
}

func newLogoutCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "logout", Short: "Forget the key of a profile",
		Long:    "Removes a profile with its key from this machine. The key itself stays good until it is revoked: parley key revoke.",
		Example: "  parley logout\n  parley logout --profile staging", Args: cobra.NoArgs}
	name := cmd.Flags().String("profile", "", "name of the profile (otherwise the one in use)")
	Complete(cmd)
	return command.Runs(cmd, command.OneObject, func(j *command.Job, _ []string) error {
		c, err := loadCredentials()
		if err != nil {
			return err
		}
		named := cmp.Or(*name, os.Getenv("PARLEY_PROFILE"), c.Current)
		if _, is, err := c.find(named); err != nil {
			return err
		} else if !is {
			return command.UsageError("nobody has logged in")
		}
		if delete(c.Profiles, named); c.Current == named {
			c.Current = ""
		}
		if err := c.save(); err != nil {
			return err
		}
		return j.AnswerText(map[string]any{"profile": named, "logged_out": true}, "logged out\t"+named+"\n")
	})
}

// profileView is a profile as commands print it, without its key.
type profileView struct {
	Profile string `json:"profile"`
	Current bool   `json:"current"`
	URL     string `json:"url"`
	Account string `json:"account_id"`
	Name    string `json:"account_name"`
}

func viewProfile(c *credentials, name string) profileView {
	p := c.Profiles[name]
	return profileView{name, name == c.Current, p.URL, p.Account, p.Name}
}

func newProfileCommand() *cobra.Command {
	list := command.Runs(&cobra.Command{Use: "list", Short: "List the profiles", Long: "Lists the profiles that parley login has stored. The one in use has an asterisk; keys are not shown.",
		Example: "  parley profile list", Args: cobra.NoArgs}, command.OneObject, func(j *command.Job, _ []string) error {
		c, err := loadCredentials()
		if err != nil {
			return err
		}
		views := []profileView{}
		for _, name := range c.names() {
			views = append(views, viewProfile(c, name))
		}
		return j.Answer(map[string]any{"profiles": views}, func(w io.Writer) {
			for _, v := range views {
				mark := ""
				if v.Current {
					mark = "*"
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", mark, v.Profile, v.URL, v.Account, v.Name)
			}
		})
	})
	use := command.Runs(&cobra.Command{Use: "use NAME", Short: "Choose the profile that commands use", Long: "Has commands use a profile, unless they are given another by --profile or PARLEY_PROFILE.",
		Example: "  parley profile use staging", Args: cobra.ExactArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return profileNames(), cobra.ShellCompDirectiveNoFileComp
		}}, command.OneObject, func(j *command.Job, args []string) error {
		c, err := loadCredentials()
		if err != nil {
			return err
		}
		if _, _, err := c.find(args[0]); err != nil {
			return err
		}
		c.Current = args[0]
		if err := c.save(); err != nil {
			return err
		}
		return j.AnswerText(viewProfile(c, args[0]), "in use\t"+args[0]+"\n")
	})
	return command.Group("profile", "Choose among the servers and accounts you have logged in to", "A profile is a server and a key for it, which parley login stores and parley logout removes.",
		"  parley profile list\n  parley profile use staging", list, use)
}

// profileNames are for completion: whatever is wrong with the file, a prompt is no place for errors.
func profileNames() []string {
	if c, err := loadCredentials(); err == nil {
		return c.names()
	}
	return nil
}

// Complete completes the names of --profile.
func Complete(cmd *cobra.Command) {
	_ = cmd.RegisterFlagCompletionFunc("profile", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return profileNames(), cobra.ShellCompDirectiveNoFileComp
	})
}
