package node

import (
	"net/url"
	"strconv"
)

// shareConnections divides what a node may have open between the pool of calls and
// requests, and that of jobs, which need two at least. An address that bounds pools itself
// keeps its bound for each; 0 connections: those of store and jobs.
func shareConnections(address string, connections int) (calls, jobs string) {
	u, err := url.Parse(address)
	if err != nil || u.Query().Has("pool_max_conns") || connections == 0 {
		return address, address // a wrong one is refused where it is used
	}
	with := func(n int) string {
		of, q := *u, u.Query()
		q.Set("pool_max_conns", strconv.Itoa(n))
		of.RawQuery = q.Encode()
		return of.String()
	}
	forJobs := max(2, connections/6)
	return with(connections - forJobs), with(forJobs)
}
