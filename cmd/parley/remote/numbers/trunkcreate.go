package numbers

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"parley/api/wire"
	"parley/cmd/parley/command"
	"parley/cmd/parley/remote/server"
)

func newTrunkPresets() *cobra.Command {
	return server.Ask(&cobra.Command{Use: "presets [NAME]", Short: "List the presets of trunks, or show one",
		Long:    "Lists exchanges and carriers whose settings the server knows, or shows what a trunk to one of them needs and what to enter there.",
		Example: "  parley trunk presets\n  parley trunk presets asterisk", Args: cobra.MaximumNArgs(1)}, command.OneObject, func(q *server.Request, args []string) error {
		list := []wire.TrunkPreset{}
		for p, err := range q.ListTrunkPresets(q.Ctx) {
			if err != nil {
				return err
			}
			if len(args) > 0 && p.Name == args[0] {
				return q.Answer(p, func(w io.Writer) { showPreset(w, &p) })
			}
			list = append(list, p)
		}
		if len(args) > 0 {
			return command.UsageError("there is no preset " + args[0] + ": see parley trunk presets")
		}
		return q.Answer(map[string]any{"data": list}, func(w io.Writer) {
			server.Total(w, len(list), "preset", false)
			for i := range list {
				fmt.Fprintf(w, "%s\t%s\t%s\n", list[i].Name, list[i].State, list[i].Title)
			}
		})
	})
}

// showPreset writes what a trunk needs, and what to enter on the other side.
func showPreset(w io.Writer, p *wire.TrunkPreset) {
	fmt.Fprintf(w, "preset\t%s\t%s\nstate\t%s\t%s\nneeds\t%s\n", p.Name, p.Title, p.State, p.Tried, strings.Join(p.Needs, ", "))
	for _, s := range p.Sources {
		fmt.Fprintf(w, "source\t%s\t%s\n", s.URL, s.Title)
	}
	enter(w, p.FarEnd)
}

// enter writes what to enter on the other side.
func enter(w io.Writer, steps []string) {
	if len(steps) > 0 {
		fmt.Fprintln(w, "\nOn the other side:")
	}
	for i, s := range steps {
		fmt.Fprintf(w, "%d. %s\n", i+1, s)
	}
}

// given are settings of a trunk from the command line.
type given struct {
	file, preset, name, username, fromUser, fromHost, contactHost, publicIP, proxy, cert, key, inbound, password, inboundPassword string
	targets, allow                                                                                                                []string
	websocket                                                                                                                     bool
}

func newTrunkCreate() *cobra.Command {
	cmd := &cobra.Command{Use: "create [FILE]", Short: "Create a trunk", Long: "Creates a trunk, which works within seconds. " + trunkDocument + "\n" +
		"Settings on the command line count before those of the file. With --preset the server adds those that it knows, and says\n" +
		"what to enter on the other side; see parley trunk presets.",
		Example: "  parley trunk create office.yaml\n  parley trunk create carrier.yaml --password-file carrier.password\n" +
			"  parley trunk create --preset telnyx --name line --username me --password-file line.password", Args: cobra.MaximumNArgs(1)}
	var g given
	f := cmd.Flags()
	f.StringVar(&g.preset, "preset", "", "an exchange or a carrier whose settings the server knows")
	f.StringVar(&g.name, "name", "", "what the trunk is called")
	f.StringArrayVar(&g.targets, "target", nil, "a server that takes calls, such as sip.carrier.example, 192.0.2.10:5080 or tls:sip.carrier.example; again for more")
	f.StringVar(&g.proxy, "outbound-proxy", "", "a server that all requests go to first, written like a target")
	f.StringArrayVar(&g.allow, "allow", nil, "an address or network that calls come from, or twilio, telnyx or teams for those of the carrier; again for more")
	f.StringVar(&g.username, "username", "", "ours at the other side")
	f.StringVar(&g.password, "password-file", "", "a file with the password that goes with username")
	f.StringVar(&g.inbound, "inbound-username", "", "that of the other side here")
	f.StringVar(&g.inboundPassword, "inbound-password-file", "", "a file with the password that goes with it, or with what a carrier signs its questions with")
	f.BoolVar(&g.websocket, "websocket", false, "take calls of phones in browsers, which show these, over SIP over WebSockets at /ws/sip")
	f.StringVar(&g.fromUser, "from-user", "", "stands in From in place of the calling number")
	f.StringVar(&g.fromHost, "from-host", "", "stands in From in place of the server's address")
	f.StringVar(&g.contactHost, "contact-host", "", "stands in Contact in place of the server's address")
	f.StringVar(&g.publicIP, "public-ip", "", "stands in Via, Contact and the description of the audio in place of the server's address")
	f.StringVar(&g.cert, "cert-file", "", "a file with our certificate for targets that ask for one over TLS (PEM)")
	f.StringVar(&g.key, "key-file", "", "a file with its key (PEM)")
	return server.Ask(cmd, command.OneObject, func(q *server.Request, args []string) error {
		if len(args) > 0 {
			g.file = args[0]
		}
		n, err := g.trunk(q)
		if err != nil {
			return err
		}
		t, err := q.CreateTrunk(q.Ctx, n)
		if err != nil {
			return err
		}
		if err := q.AnswerText(t, t.ID+"\n"); err != nil || q.JSON {
			return err
		}
		enter(q.ErrOrStderr(), t.FarEnd)
		return nil
	})
}

// trunk is the trunk that a file and the command line describe.
func (g *given) trunk(q *server.Request) (n wire.NewTrunk, err error) {
	switch {
	case g.file != "":
		n, err = trunkFile(q, g.file, g.password)
	case g.name == "":
		return n, command.UsageError("name a FILE with the settings, or give --name and others")
	default:
		n.Password, err = passwordOf(g.password)
	}
	for file, to := range map[*string]*string{&g.inboundPassword: &n.InboundPassword, &g.cert: &n.Cert, &g.key: &n.Key} {
		if err == nil && *file != "" {
			*to, err = passwordOf(*file)
		}
	}
	if err != nil {
		return n, err
	}
	for value, to := range map[*string]*string{&g.preset: &n.Preset, &g.name: &n.Name, &g.username: &n.Username, &g.inbound: &n.InboundUsername,
		&g.fromUser: &n.FromUser, &g.fromHost: &n.FromHost, &g.contactHost: &n.ContactHost, &g.publicIP: &n.PublicIP} {
		if *value != "" {
			*to = *value
		}
	}
	if len(g.allow) > 0 {
		n.Allow = g.allow
	}
	if g.websocket {
		n.WebSocket = &g.websocket
	}
	if g.proxy != "" {
		t, err := targetOf(g.proxy)
		if err != nil {
			return n, err
		}
		n.OutboundProxy = &t
	}
	for i, text := range g.targets {
		if i == 0 {
			n.Targets = nil
		}
		t, err := targetOf(text)
		if err != nil {
			return n, err
		}
		n.Targets = append(n.Targets, t)
	}
	return n, nil
}

// passwordOf reads a password, or a key, from its file; without a file there is none.
func passwordOf(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	b, err := os.ReadFile(file)
	return strings.TrimRight(string(b), "\r\n"), err
}

// targetOf reads a server such as tls:sip.carrier.example:5061.
func targetOf(text string) (t wire.TrunkTarget, err error) {
	for _, transport := range []string{"udp", "tcp", "tls"} {
		if rest, ok := strings.CutPrefix(text, transport+":"); ok {
			t.Transport, text = transport, rest
		}
	}
	t.Host = text
	if host, port, ok := strings.Cut(text, ":"); ok && strings.Count(text, ":") == 1 {
		t.Host = host
		if t.Port, err = strconv.Atoi(port); err != nil {
			return t, command.UsageError("a server is written as sip.carrier.example, 192.0.2.10:5080 or tls:sip.carrier.example")
		}
	}
	return t, nil
}
