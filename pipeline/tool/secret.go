package tool

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Secret is a secret of an account.
type Secret struct {
	Value string
	Hosts []string // where it may be sent, in small letters; *.name is all below it. None: anywhere
}

// Secrets returns the values of an account's secrets by name; those it does not have
// are missing in the answer.
type Secrets func(ctx context.Context, account string, names []string) (map[string]Secret, error)

// secretsFor are the values of those that may be sent to the host of an address.
func secretsFor(address string, secrets map[string]Secret) map[string]string {
	values := make(map[string]string, len(secrets))
	u, err := url.Parse(placeholder.ReplaceAllString(address, "x"))
	if err != nil {
		return values
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	for name, s := range secrets {
		if len(s.Hosts) == 0 || slices.ContainsFunc(s.Hosts, func(bound string) bool {
			below, all := strings.CutPrefix(bound, "*")
			return bound == host || all && strings.HasSuffix(host, below)
		}) {
			values[name] = s.Value
		}
	}
	return values
}

// reference is how a definition refers to a secret.
var reference = regexp.MustCompile(`\{\{\s*secret\.([A-Za-z][A-Za-z0-9_]{0,63})\s*\}\}`)

// checkReferences refuses what looks like a reference and is none.
func checkReferences(path, text string) error {
	if strings.Contains(reference.ReplaceAllString(text, ""), "{{") {
		return fault(path, "a secret is written {{secret.NAME}}, its name of letters, digits and _")
	}
	return nil
}

// referred lists the secrets that texts refer to.
func referred(texts ...string) []string {
	var names []string
	for _, t := range texts {
		for _, m := range reference.FindAllStringSubmatch(t, -1) {
			names = append(names, m[1])
		}
	}
	return names
}

// missing is the error of a secret that the account does not have, or that is bound to
// other hosts; names are none.
func missing(name string) error {
	return fmt.Errorf("the secret %s does not exist, or does not belong to this host", name)
}

// expand puts the values of secrets into a text.
func expand(text string, values map[string]string) (string, error) {
	var err error
	out := reference.ReplaceAllStringFunc(text, func(r string) string {
		name := reference.FindStringSubmatch(r)[1]
		value, ok := values[name]
		if !ok {
			err = missing(name)
		}
		return value
	})
	return out, err
}

// expandAll puts the values of secrets into the values of a map.
func expandAll(texts map[string]string, values map[string]string) (map[string]string, error) {
	out := make(map[string]string, len(texts))
	for name, text := range texts {
		var err error
		if out[name], err = expand(text, values); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// leastSecret is the shortest secret, in bytes, that is looked for in answers.
const leastSecret = 6

// scrub takes secrets out of what a service said: some echo what they were sent.
func scrub(text string, values map[string]string) string {
	for _, v := range values {
		if len(v) >= leastSecret {
			text = strings.ReplaceAll(text, v, "(secret)")
		}
	}
	return text
}
