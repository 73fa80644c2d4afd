import { BlockList, isIP } from 'node:net';

export type AddressClass = 'public' | 'private';

/**
 * Whether an IP address is one of the public internet. Everything else is `private`, also what is no address at all:
 * whatever the IANA special-purpose registries (RFC 6890 and its updates) don't call globally reachable, multicast,
 * what is reserved, and the transition mechanisms that hide an IPv4 address in one of IPv6.
 */
export function classOf(address: string): AddressClass {
  const plain = destination(address);
  const family = isIP(plain);
  if (family === 4) return NOT_PUBLIC.check(plain, 'ipv4') ? 'private' : 'public';
  return family === 6 && isGlobalUnicast(plain) && !NOT_PUBLIC.check(plain, 'ipv6') ? 'public' : 'private';
}

/** Whether a connection to this address ends on the machine itself, whatever its interfaces are. */
export function isLoopback(address: string): boolean {
  const plain = destination(address);
  const family = isIP(plain);
  return family !== 0 && LOOPBACK.check(plain, family === 4 ? 'ipv4' : 'ipv6');
}

/**
 * The address at which a packet for this one arrives: without a zone, and the IPv4 address in one of IPv6 that is mapped
 * (::ffff:0:0/96) or leads through a NAT64 gateway (64:ff9b::/96, what every IPv4-only host resolves to in a network that
 * has only IPv6).
 */
export function destination(address: string): string {
  const plain = address.replace(/%.*$/, '');
  if (isIP(plain) !== 6) return plain;
  const words = wordsOf(plain);
  const prefix = words.slice(0, 6).join(':');
  if (prefix !== MAPPED && prefix !== NAT64) return plain;
  const [high = 0, low = 0] = words.slice(6);
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
}

/** As `[prefix, bits]`; of registry entries inside one another only the outer one, so a few reachable anycast services are private too. */
const NOT_PUBLIC_NETS: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8], // this network
  ['10.0.0.0', 8],
  ['100.64.0.0', 10], // carrier-grade NAT; some clouds' metadata
  ['127.0.0.0', 8],
  ['169.254.0.0', 16], // link-local; most clouds' metadata
  ['172.16.0.0', 12],
  ['192.0.0.0', 24], // protocol assignments
  ['192.0.2.0', 24], // documentation
  ['192.88.99.0', 24], // 6to4 relays, deprecated
  ['192.168.0.0', 16],
  ['198.18.0.0', 15], // benchmarking
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, and broadcast
  // Of IPv6 only what lies inside 2000::/3; all the rest is not public anyway.
  ['2001::', 23], // protocol assignments: Teredo, benchmarking, ORCHID …
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4
  ['3fff::', 20], // documentation
];

const NOT_PUBLIC = blockList(NOT_PUBLIC_NETS);

/** Linux takes a connection to the unspecified address to itself. */
const LOOPBACK = blockList([
  ['127.0.0.0', 8],
  ['0.0.0.0', 32],
  ['::1', 128],
  ['::', 128],
]);

function blockList(nets: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList();
  for (const [prefix, bits] of nets) list.addSubnet(prefix, bits, prefix.includes(':') ? 'ipv6' : 'ipv4');
  return list;
}

/** Only 2000::/3 has been given out as global unicast. */
function isGlobalUnicast(address: string): boolean {
  return ((wordsOf(address)[0] ?? 0) & 0xe000) === 0x2000;
}

const MAPPED = [0, 0, 0, 0, 0, 0xffff].join(':');
const NAT64 = [0x64, 0xff9b, 0, 0, 0, 0].join(':');

/** The eight 16-bit words of a valid IPv6 address. */
function wordsOf(address: string): number[] {
  const [head = '', tail] = address.split('::');
  const before = words(head);
  const after = words(tail ?? '');
  return [...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after];
}

function words(part: string): number[] {
  if (part === '') return [];
  return part.split(':').flatMap(word => {
    if (!word.includes('.')) return [Number.parseInt(word, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = word.split('.').map(Number);
    return [(a << 8) | b, (c << 8) | d];
  });
}
