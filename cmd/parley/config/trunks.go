package config

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"parley/sip/trunk"
)

// trunksKey is the list of trunks, which only the file has.
const trunksKey = "trunks"

// maxTrunks bounds the list: each is looked at for every message that comes in.
const maxTrunks = 64

// trunkReader reads one trunk. What several keys make together is put together
// at the end.
type trunkReader struct {
	trunk trunk.Config
	files struct{ ca, cert, key, serverName string }
}

// readTrunks reads the list of trunks. Its errors are one line, name the key, and
// never hold a secret.
func readTrunks(where string, v *yaml.Node) ([]trunk.Config, error) {
	if v.Kind == yaml.ScalarNode && v.Tag == "!!null" {
		return nil, nil
	}
	if v.Kind != yaml.SequenceNode || len(v.Content) > maxTrunks {
		return nil, &Error{where, fmt.Sprintf("is not a list of trunks; allowed: entries that begin with \"- name: ...\", %d at most", maxTrunks)}
	}
	var all []trunk.Config
	for i, item := range v.Content {
		at := fmt.Sprintf("%s[%d]", where, i)
		t, err := readTrunk(at, item)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(o trunk.Config) bool { return o.Name == t.Name }) {
			return nil, &Error{at + ".name", quote(t.Name) + " is there twice; allowed: a name of its own"}
		}
		all = append(all, t)
	}
	return all, nil
}

func readTrunk(at string, v *yaml.Node) (trunk.Config, error) {
	var r trunkReader
	err := eachKey(at, v, func(where, name string, v *yaml.Node) error {
		if plain, isFile := strings.CutSuffix(name, "_file"); isFile {
			if k, ok := findKey(plain); ok && k.secret {
				return k.readFile(&r, where, v)
			}
		}
		k, ok := findKey(name)
		if !ok {
			return &Error{where, "is no key of a trunk; the nearest is " + nearestKey(name)}
		}
		if k.mapping != nil {
			return k.mapping(&r, where, v)
		}
		return k.readNode(&r, where, v)
	})
	if err != nil {
		return r.trunk, err
	}
	return r.trunk, r.finish(at)
}

// eachKey goes through a mapping: each key once.
func eachKey(at string, v *yaml.Node, f func(where, name string, v *yaml.Node) error) error {
	if v.Kind != yaml.MappingNode {
		return &Error{at, "is not a list of keys; allowed: lines such as name: carrier"}
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(v.Content); i += 2 {
		name := strings.ToLower(v.Content[i].Value)
		where := at + "." + quoteKey(v.Content[i].Value)
		if v.Content[i].Kind != yaml.ScalarNode {
			return &Error{at, "has a key with parts of its own; allowed: lines such as name: carrier"}
		}
		if seen[strings.TrimSuffix(name, "_file")] {
			return &Error{where, "is given twice; allowed: once"}
		}
		seen[strings.TrimSuffix(name, "_file")] = true
		if err := f(where, v.Content[i].Value, v.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

func findKey(name string) (trunkKey, bool) {
	for _, k := range trunkKeys {
		if k.name == name {
			return k, true
		}
	}
	return trunkKey{}, false
}

func nearestKey(name string) string {
	return slices.MinFunc(trunkKeys, func(a, b trunkKey) int { return distance(name, a.name) - distance(name, b.name) }).name
}

// readNode reads a plain value, or a list where the key takes one.
func (k trunkKey) readNode(r *trunkReader, where string, v *yaml.Node) error {
	text, ok := plain(v)
	if !ok || v.Kind == yaml.SequenceNode && !k.many {
		return &Error{where, "has parts of its own; allowed: " + k.allowed}
	}
	if text == "" || !k.read(r, text) {
		shown := quote(text)
		if k.secret {
			shown = "this value"
		}
		return &Error{where, shown + " is not allowed; allowed: " + k.allowed}
	}
	return nil
}

// readFile reads a secret from the file that the value names.
func (k trunkKey) readFile(r *trunkReader, where string, v *yaml.Node) error {
	path, _ := plain(v)
	if text, ok := fileText(path); !ok || !k.read(r, text) {
		return unusable(where, path)
	}
	return nil
}

// fileText is the text of a file without its last line's end.
func fileText(path string) (text string, ok bool) {
	b, err := os.ReadFile(path)
	text = strings.TrimRight(string(b), "\r\n")
	return text, err == nil && text != ""
}

func unusable(where, path string) error {
	return &Error{where, fmt.Sprintf("cannot use %s; allowed: the path of a file that holds the secret", quote(path))}
}

// readTargets reads the places that take the trunk's calls.
func readTargets(r *trunkReader, where string, v *yaml.Node) error {
	if v.Kind != yaml.SequenceNode {
		return &Error{where, "is not a list; allowed: entries with host, port and transport"}
	}
	for i, item := range v.Content {
		t, err := readTarget(fmt.Sprintf("%s[%d]", where, i), item)
		if err != nil {
			return err
		}
		r.trunk.Targets = append(r.trunk.Targets, t)
	}
	return nil
}

// readProxy reads where requests go first.
func readProxy(r *trunkReader, where string, v *yaml.Node) (err error) {
	r.trunk.Proxy, err = readTarget(where, v)
	return err
}

// readTarget reads one server.
func readTarget(at string, v *yaml.Node) (t trunk.Target, err error) {
	err = eachKey(at, v, func(where, name string, v *yaml.Node) error {
		text, _ := plain(v)
		ok, allowed := false, ""
		switch name {
		case "host":
			t.Host = text
			ok, allowed = trunk.ValidHost(text), "a host's name or address"
		case "port":
			var port int
			ok, allowed = setInt(&port, text, 1, 65535), "a port from 1 to 65535, or none to look for SRV records"
			t.Port = uint16(port)
		case "transport":
			ok, allowed = setWord(&t.Transport, text, "udp", "tcp", "tls"), "udp, tcp or tls"
		default:
			return &Error{where, "is no key of a target; allowed: host, port, transport"}
		}
		if !ok {
			return &Error{where, quote(text) + " is not allowed; allowed: " + allowed}
		}
		return nil
	})
	if err == nil && t.Host == "" {
		err = &Error{at, "has no host; allowed: a host's name or address"}
	}
	return t, err
}

// readExtensions reads who answers called users that are no numbers, in their order.
func readExtensions(r *trunkReader, where string, v *yaml.Node) error {
	return eachKey(where, v, func(where, name string, v *yaml.Node) error {
		e := trunk.Extension{Match: strings.ToLower(name)}
		e.Agent, _ = plain(v)
		if !trunk.ValidMatch(e.Match) || !agentID.MatchString(e.Agent) {
			return &Error{where, "is not allowed; allowed: " + allowedExtension}
		}
		r.trunk.Plan.Extensions = append(r.trunk.Plan.Extensions, e)
		return nil
	})
}

// readHeaders reads the trunk's own headers. Some carriers have a secret in one, which may
// be in a file: no header's name ends in _file.
func readHeaders(r *trunkReader, where string, v *yaml.Node) error {
	r.trunk.Headers = map[string]string{}
	return eachKey(where, v, func(where, name string, v *yaml.Node) error {
		text, ok := plain(v)
		name, inFile := strings.CutSuffix(name, "_file")
		if inFile {
			path := text
			if text, ok = fileText(path); !ok {
				return unusable(where, path)
			}
		}
		var line string
		if !extension.MatchString(name) || !ok || !setLine(&line, text) {
			return &Error{where, "is not allowed; allowed: headers whose names begin with X-, with one line of text"}
		}
		r.trunk.Headers[name] = line
		return nil
	})
}

// finish looks at keys that must fit each other.
func (r *trunkReader) finish(at string) error {
	t := &r.trunk
	secure := t.Proxy.Transport == "tls" || slices.ContainsFunc(t.Targets, func(t trunk.Target) bool { return t.Transport == "tls" })
	switch {
	case t.Name == "":
		return &Error{at, "has no name; allowed: " + allowedName}
	case (r.files.cert == "") != (r.files.key == ""):
		return &Error{at, "has half of its certificate; allowed: cert and key, or neither"}
	case r.files != (struct{ ca, cert, key, serverName string }{}) && !secure:
		return &Error{at, "has certificates for TLS but no target with transport: tls"}
	}
	if m := t.Check(); m != nil {
		if m.Key != "" {
			at += "." + m.Key
		}
		return &Error{at, m.Text}
	}
	return r.certificates(at)
}

// certificates makes the TLS configuration of outgoing connections.
func (r *trunkReader) certificates(at string) error {
	f := r.files
	if f.ca == "" && f.cert == "" && f.serverName == "" {
		return nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: f.serverName}
	if f.ca != "" {
		pem, err := os.ReadFile(f.ca)
		c.RootCAs = x509.NewCertPool()
		if err != nil || !c.RootCAs.AppendCertsFromPEM(pem) {
			return &Error{at + ".ca", quote(f.ca) + " holds no certificate; allowed: the path of a file with certificates (PEM)"}
		}
	}
	if f.cert != "" {
		pair, err := tls.LoadX509KeyPair(f.cert, f.key)
		if err != nil {
			return &Error{at + ".cert", "does not go with key; allowed: a certificate and its key (PEM)"}
		}
		c.Certificates = []tls.Certificate{pair}
	}
	r.trunk.TLS = c
	return nil
}

// hidden is a copy of the trunks' text without secrets and comments.
func hidden(v *yaml.Node) *yaml.Node {
	return without(v, func(name string) bool { k, _ := findKey(name); return k.secret })
}

// without is a copy without the values that are secret by their names.
func without(v *yaml.Node, secret func(name string) bool) *yaml.Node {
	c := &yaml.Node{Kind: v.Kind, Tag: v.Tag, Value: v.Value}
	for i, part := range v.Content {
		name, within := "", secret
		if v.Kind == yaml.MappingNode && i%2 == 1 {
			name = v.Content[i-1].Value
		}
		if name == "headers" { // any may be one
			within = func(name string) bool { return !strings.HasSuffix(name, "_file") }
		}
		if part = without(part, within); name != "" && secret(name) {
			part = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: "(secret)"}
		}
		c.Content = append(c.Content, part)
	}
	return c
}

// checkTrunks keeps play money and real lines apart.
func (c *Config) checkTrunks() error {
	real := c.Carrier == "sip" || c.Carrier == "telnyx"
	switch {
	case len(c.Trunks) > 0 && c.Carrier == "simulated":
		return c.wrong("CARRIER", "trunks carry real calls, the simulated carrier none; allowed with trunks: sip, telnyx or none")
	case real && len(c.Trunks) == 0:
		return c.wrong("CARRIER", "it needs a line to the carrier; allowed: with trunks in the file of --config")
	}
	return nil
}
