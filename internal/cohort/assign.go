package cohort

import (
	"cmp"
	"encoding/binary"
	"hash/fnv"
	"slices"

	"anodyne.example/anodyne/internal/access"
)

// sliceSize is the number of patients in a slice, which is the unit that a node
// holds: about 10 MB with 20 records each. It is a multiple of the patients in a
// group of panels.
const sliceSize = 4 * groupSize * panelSize

// owners returns for each slice of an organisation the index of the node that
// holds it. All nodes with the same list get the same result. A node gets slices
// in proportion to its memory. If a node comes or goes, most slices stay where
// they are: each slice ranks the nodes in its own order, and takes the first one
// that has not got its part yet.
func owners(nodes []node, org access.OrgNo, count int) []int {
	total := int64(0)
	for i := range nodes {
		total += nodes[i].Memory >> 10 // so that the product below does not overflow
	}
	left := make([]int, len(nodes))
	for i := range nodes {
		left[i] = int((int64(count)*(nodes[i].Memory>>10) + total - 1) / max(total, 1))
	}
	owner := make([]int, count)
	order := make([]int, len(nodes))
	ranks := make([]uint64, len(nodes))
	for slice := range owner {
		for i := range nodes {
			order[i], ranks[i] = i, rank(nodes[i].Address, org, slice)
		}
		slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(ranks[b], ranks[a]), cmp.Compare(a, b)) })
		at := slices.IndexFunc(order, func(i int) bool { return left[i] > 0 })
		owner[slice] = order[max(at, 0)]
		left[owner[slice]]--
	}
	return owner
}

// rank is by address, so that a node that restarts gets the same slices.
func rank(address string, org access.OrgNo, slice int) uint64 {
	var key [16]byte
	binary.LittleEndian.PutUint64(key[:], uint64(org))
	binary.LittleEndian.PutUint64(key[8:], uint64(slice))
	h := fnv.New64a()
	_, _ = h.Write([]byte(address))
	_, _ = h.Write(key[:])
	mixed := h.Sum64() // the last bytes hardly change the upper bits of FNV
	mixed ^= mixed >> 32
	mixed *= 0x9e3779b97f4a7c15
	return mixed ^ mixed>>29
}
