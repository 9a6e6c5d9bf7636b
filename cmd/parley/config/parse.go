package config

import (
	"crypto/ed25519"
	"encoding/base64"
	"log/slog"
	"net"
	"net/mail"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/sip/trunk"
	"parley/store/blob"
	"parley/store/bus"
)

// The set functions read one kind of value each and say whether it is allowed.

var (
	nodeName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)
	// What Stripe calls its secrets; nothing is known of the rest of them.
	stripeKey    = regexp.MustCompile(`^(sk|rk)_[A-Za-z0-9_]{1,250}$`)
	stripeSecret = regexp.MustCompile(`^whsec_[A-Za-z0-9_+/=]{1,250}$`)
	// The same of Telnyx.
	telnyxKey = regexp.MustCompile(`^KEY[A-Za-z0-9_-]{1,250}$`)
	telnyxID  = regexp.MustCompile(`^[0-9]{1,32}$`)
	// Of its messaging profiles.
	telnyxProfile = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

	// userInfo is where addresses have credentials, which are not shown.
	userInfo = regexp.MustCompile(`://[^/?#\s]*@`)

	hostName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$`)
)

func setAddr(to *string, s string) bool {
	host, port, err := net.SplitHostPort(s)
	_, noPort := strconv.ParseUint(port, 10, 16)
	_, noIP := netip.ParseAddr(host)
	*to = s
	return err == nil && noPort == nil && (host == "" || noIP == nil || hostName.MatchString(host))
}

// samePort says whether two listening addresses would take the same port.
func samePort(a, b string) bool {
	_, p, err1 := net.SplitHostPort(a)
	_, q, err2 := net.SplitHostPort(b)
	return err1 == nil && err2 == nil && p == q && strings.Trim(p, "0") != ""
}

// setURL refuses credentials in the address: it is shown and logged.
func setURL(to *string, s string) bool {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return false
	}
	*to = trimURL(u)
	return true
}

// setSearch allows a query, but no key in it: it is shown and logged.
func setSearch(to *string, s string) bool {
	u, err := url.Parse(s)
	if err != nil {
		return false
	}
	query := u.RawQuery
	u.RawQuery = ""
	if !setURL(to, u.String()) {
		return false
	}
	if query != "" {
		*to += "?" + query
	}
	return true
}

// setSources reads networks and addresses, and those of carriers by their names.
func setSources(to *[]netip.Prefix, s string) bool {
	var all []netip.Prefix
	for _, item := range list(s) {
		nets, ok := trunk.Published(strings.ToLower(item))
		if !ok && !setNets(&nets, item) {
			return false
		}
		all = append(all, nets...)
	}
	*to = all
	return true
}

// setHosts reads networks, addresses and host names.
func setHosts(to *[]string, s string) bool {
	*to = list(s)
	return !slices.ContainsFunc(*to, func(item string) bool {
		named := hostName.MatchString(item) && strings.Trim(item, "0123456789.") != ""
		return !named && !setNets(new([]netip.Prefix), item)
	})
}

func setDatabase(to *string, s string) bool {
	if !strings.HasPrefix(s, "postgres://") && !strings.HasPrefix(s, "postgresql://") {
		return false
	}
	_, err := pgx.ParseConfig(s)
	*to = s
	return err == nil
}

func setIP(to *netip.Addr, s string) bool {
	ip, err := netip.ParseAddr(s)
	if err != nil || ip.IsUnspecified() || ip.IsMulticast() || ip.Zone() != "" {
		return false
	}
	*to = ip.Unmap()
	return true
}

func setPorts(to *PortRange, s string) bool {
	first, last, ok := strings.Cut(s, "-")
	var r PortRange
	if !ok || !setInt(&r.First, first, 1024, 65535) || !setInt(&r.Last, last, r.First, 65535) {
		return false
	}
	*to = r
	return r.Pairs() > 0
}

func setNets(to *[]netip.Prefix, s string) bool {
	var nets []netip.Prefix
	for _, item := range list(s) {
		if ip, err := netip.ParseAddr(item); err == nil && ip.Zone() == "" {
			nets = append(nets, netip.PrefixFrom(ip.Unmap(), ip.Unmap().BitLen()))
			continue
		}
		n, err := netip.ParsePrefix(item)
		if err != nil || n != n.Masked() {
			return false // 10.1.2.3/8 is more likely a slip than a wish
		}
		nets = append(nets, n)
	}
	*to = nets
	return true
}

func setEngines(to *[]string, s string, built []string) bool {
	names := list(s)
	for i, n := range names {
		if !slices.Contains(built, n) || slices.Contains(names[:i], n) || n == "off" && len(names) > 1 {
			return false
		}
	}
	*to = names
	return true
}

func setWord(to *string, s string, allowed ...string) bool {
	*to = s
	return slices.Contains(allowed, s)
}

// setPublicKey reads the base64 of an Ed25519 key.
func setPublicKey(to *string, s string) bool {
	key, err := base64.StdEncoding.DecodeString(s)
	*to = s
	return err == nil && len(key) == ed25519.PublicKeySize
}

func setInt(to *int, s string, least, most int) bool {
	n, err := strconv.Atoi(s)
	*to = n
	return err == nil && n >= least && n <= most
}

func setDuration(to *time.Duration, s string) bool {
	d, err := time.ParseDuration(s)
	*to = d
	return err == nil && d >= 0 && d <= 24*time.Hour
}

func setLevel(to *slog.Level, s string) bool {
	l, ok := levels[s]
	*to = l
	return ok
}

func setSwitch(to *bool, s string) bool {
	switch strings.ToLower(s) {
	case "on", "true", "yes", "1":
		*to = true
	case "off", "false", "no", "0":
		*to = false
	default:
		return false
	}
	return true
}

// certName is a name as certificates have it: in small letters, with a dot, and no wildcard, which
// no challenge over TLS or HTTP is for (RFC 8555 section 7.1.3, RFC 8737 section 3).
var certName = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$`)

// maxNames is how many names authorities put into one certificate.
const maxNames = 100

func setNames(to *[]string, s string) bool {
	names := list(strings.ToLower(s))
	for i, n := range names {
		if len(n) > 253 || !certName.MatchString(n) || slices.Contains(names[:i], n) {
			return false
		}
	}
	*to = names
	return len(names) <= maxNames
}

func setEmail(to *string, s string) bool {
	a, err := mail.ParseAddress(s)
	*to = s
	return err == nil && a.Address == s
}

func setFile(to *string, s string) bool {
	f, err := os.Open(s)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	*to = s
	return err == nil && info.Mode().IsRegular()
}

func setStorage(to **blob.Location, s string) bool {
	l, err := blob.Parse(s)
	*to = &l
	return err == nil
}

func setRoutes(to *[]string, s string) bool {
	*to = list(s)
	return !slices.ContainsFunc(*to, func(r string) bool { return bus.CheckRoute(r) != nil })
}

func oneLine(s string) bool { return !strings.ContainsAny(s, "\r\n\x00") }

// list splits at commas; an empty item stays and is refused by its reader.
func list(s string) []string {
	items := strings.Split(s, ",")
	for i := range items {
		items[i] = strings.TrimSpace(items[i])
	}
	return items
}

func setWebRTC(c *Config, s string) bool {
	if c.WebRTC = s != "off"; !c.WebRTC {
		return true
	}
	return setInt(&c.WebRTCUDPPort, s, 0, 65535)
}

func setTURN(to *[]string, s string) bool {
	for _, u := range list(s) {
		scheme, rest, _ := strings.Cut(u, ":")
		// The characters that would end it in a header.
		if scheme != "stun" && scheme != "stuns" && scheme != "turn" && scheme != "turns" || rest == "" || strings.ContainsAny(u, " <>\"\r\n/") {
			return false
		}
		*to = append(*to, u)
	}
	return true
}

// OwnURL is where this machine reaches an address that it listens on.
func OwnURL(listening string, secure bool) (string, error) {
	host, port, err := net.SplitHostPort(listening)
	if err != nil {
		return "", err
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	scheme := "http://"
	if secure {
		scheme = "https://"
	}
	return scheme + net.JoinHostPort(host, port), nil
}
