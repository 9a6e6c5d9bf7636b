package config

import (
	"net/netip"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Doubt is a setting that is allowed and that somebody should think about.
type Doubt struct {
	Name string // what it is about, for people: "simulated payments"
	Text string // why; one line without secrets
	Fix  string // what to do
	// Plain says to customers what is played beside what is real; empty: it is the operator's
	// business alone.
	Plain string
}

// Doubts lists them; the log at the start, parley doctor and the dashboard show them.
func (c *Config) Doubts() []Doubt {
	var all []Doubt
	if real := c.realEngines(); len(real) > 0 {
		if c.Payments == "simulated" {
			all = append(all, Doubt{"simulated payments",
				"payments are simulated, and " + strings.Join(real, ", ") + " costs real money: every user fills an account without paying",
				"set PARLEY_PAYMENTS to stripe or none", "Payments on this server are simulated: no card is charged."})
		}
		if c.Carrier == "simulated" {
			all = append(all, Doubt{"simulated carrier",
				"the carrier is simulated, and " + strings.Join(real, ", ") + " is real: calls reach no telephone, but cost what the engines cost",
				"set PARLEY_CARRIER to telnyx, sip or none", "The carrier of this server is simulated: calls reach no real telephone."})
		}
	}
	if guessable(c.Secret) {
		all = append(all, Doubt{Name: "master secret",
			Text: "PARLEY_SECRET looks like words or has little variety: the owner of a ticket can try guesses on its seal",
			Fix:  "set PARLEY_SECRET to the output of openssl rand -hex 32; tickets end, and secrets that are stored must be entered anew"})
	}
	return append(all, c.exposed()...)
}

// guessable says that a secret is not what a random generator writes, in hexadecimal or
// base64: that has digits, no spaces, and, at 32 characters, ten different ones or more.
// Hexadecimal has 16 in all, and misses some of them often.
func guessable(secret string) bool {
	if secret == "" { // one is generated
		return false
	}
	different := map[rune]bool{}
	for _, r := range secret {
		different[r] = true
	}
	return len(different) < 10 || strings.Contains(secret, " ") || !strings.ContainsAny(secret, "0123456789")
}

// exposed lists what goes over a network in the clear, or may.
func (c *Config) exposed() (all []Doubt) {
	if host := plainDatabase(c.DatabaseURL); host != "" {
		all = append(all, Doubt{Name: "database connection",
			Text: "the connection to the database at " + quote(host) + " may go unencrypted: its password, calls and money can be read and changed on the way",
			Fix:  "add sslmode=verify-full to PARLEY_DATABASE_URL, and sslrootcert where the authority is your own"})
	}
	for _, s := range []struct{ name, url, key string }{{"ASR", c.ASR.URL, c.ASR.APIKey}, {"LLM", c.LLM.URL, c.LLM.APIKey}, {"TTS", c.TTS.URL, c.TTS.APIKey},
		{"EMBEDDINGS", c.EmbeddingsURL, c.EmbeddingsAPIKey}, {"SEARCH", c.SearchURL, c.SearchAPIKey}, {"CRM", c.CRMURL, c.CRMAPIKey}} {
		u, err := url.Parse(s.url)
		if err != nil || u.Scheme != "http" || s.key == "" || ThisMachine(u.Hostname()) {
			continue
		}
		all = append(all, Doubt{Name: strings.ToLower(s.name) + " connection",
			Text: "PARLEY_" + s.name + "_API_KEY and what is said in calls go unencrypted to " + quote(u.Hostname()),
			Fix:  "set PARLEY_" + s.name + "_URL to an https:// address"})
	}
	if c.Storage != nil {
		if host := c.Storage.Unencrypted(); host != "" && !ThisMachine(host) {
			all = append(all, Doubt{Name: "storage connection",
				Text: "recordings of calls go unencrypted to " + quote(host),
				Fix:  "give PARLEY_STORAGE_URL an https:// endpoint"})
		}
	}
	for _, s := range c.stages() {
		for _, e := range s.listed {
			if host := e.unencrypted(); host != "" {
				all = append(all, Doubt{Name: e.Name + " connection",
					Text: "the key of the engine " + e.Name + " and what is said in calls go unencrypted to " + quote(host),
					Fix:  "set its url to an https:// address"})
			}
		}
	}
	return all
}

// plainDatabase is the host that a connection to the database may reach unencrypted over a
// network; empty: there is none.
func plainDatabase(address string) string {
	if address == "" {
		return ""
	}
	c, err := pgx.ParseConfig(address)
	if err != nil {
		return "" // it was checked
	}
	for _, to := range append([]*pgconn.FallbackConfig{{Host: c.Host, TLSConfig: c.TLSConfig}}, c.Fallbacks...) {
		if to.TLSConfig == nil && !strings.HasPrefix(to.Host, "/") && !ThisMachine(to.Host) {
			return to.Host
		}
	}
	return ""
}

// ThisMachine says whether what is sent to a host stays here.
func ThisMachine(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// embedded are the engines that cost nothing but this machine's time.
var embedded = []string{"pocketsphinx", "scripted", "espeak", "spectral", "off"}

// realEngines names the others that are configured, each with its stage.
func (c *Config) realEngines() []string {
	var found []string
	for _, s := range c.stages() {
		for _, e := range s.All() {
			switch {
			case e.Local(), e.AccountKeys: // the operator pays for none
			case e.Name == e.Vendor:
				found = append(found, "PARLEY_"+s.name+"="+e.Name)
			default:
				found = append(found, "the engine "+e.Name)
			}
		}
	}
	return found
}
