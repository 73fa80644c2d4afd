import { describe, expect, test } from 'vitest';
import { classOf, isLoopback } from '../../src/egress/address.ts';

/** Beside each special network its first and last address, where it has an end inside of public space also what follows. */
const PRIVATE = [
  ['this network', '0.0.0.0', '0.0.0.1', '0.255.255.255'],
  ['RFC 1918', '10.0.0.0', '10.255.255.255', '172.16.0.0', '172.31.255.255', '192.168.0.0', '192.168.255.255'],
  ['carrier-grade NAT', '100.64.0.0', '100.100.100.200', '100.127.255.255'],
  ['loopback', '127.0.0.1', '127.255.255.255', '::1'],
  ['link-local', '169.254.0.0', '169.254.169.254', '169.254.255.255', 'fe80::1', 'fe80::1%eth0', 'febf::1'],
  ['protocol assignments', '192.0.0.0', '192.0.0.192', '192.0.0.255', '2001:1::1', '2001:1ff::1'],
  ['documentation', '192.0.2.1', '198.51.100.1', '203.0.113.255', '2001:db8::1', '3fff::1', '3fff:fff::1'],
  ['6to4', '192.88.99.1', '2002::1', '2002:808:808::1'],
  ['benchmarking', '198.18.0.0', '198.19.255.255', '2001:2::1'],
  ['multicast', '224.0.0.1', '239.255.255.255', 'ff02::1'],
  ['reserved', '240.0.0.1', '255.255.255.254', '4000::1', 'e000::1', '100::1', '5f00::1'],
  ['broadcast', '255.255.255.255'],
  ['unspecified', '::'],
  ['unique local', 'fc00::1', 'fd12:3456::1'],
  ['site-local', 'fec0::1'],
  ['Teredo', '2001::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  ['ORCHID', '2001:10::1', '2001:20::1'],
  ['mapped private IPv4', '::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:a00:1', '0:0:0:0:0:ffff:192.168.1.1'],
  ['IPv4-compatible', '::7f00:1', '::8.8.8.8'],
  ['translated IPv4', '::ffff:0:8.8.8.8'],
  ['NAT64 to a private address', '64:ff9b::7f00:1', '64:ff9b::10.0.0.1', '64:ff9b::a9fe:a9fe'],
  ['local NAT64', '64:ff9b:1::1', '64:ff9b:1::808:808'],
  ['no address', '', 'example.com', '1.2.3', '1.2.3.4.5', ':::', '256.1.1.1'],
] as const;

const PUBLIC = [
  [
    'beside private networks',
    '1.0.0.0',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
  ],
  ['beside others', '128.0.0.0', '169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0', '191.255.255.255'],
  ['and others', '192.0.1.0', '192.0.3.0', '192.88.98.255', '192.167.255.255', '192.169.0.0', '198.17.255.255'],
  ['up to multicast', '198.20.0.0', '198.51.99.255', '198.51.101.0', '203.0.112.255', '203.0.114.0', '223.255.255.255'],
  ['well known', '8.8.8.8', '1.1.1.1', '192.31.196.1', '192.175.48.1'],
  ['IPv6', '2606:4700:4700::1111', '2001:4860:4860::8888', '2001:200::1', '2003::1', '2620:4f:8000::1', '3ffe::1'],
  ['mapped public IPv4', '::ffff:8.8.8.8', '::ffff:808:808'],
  ['NAT64 to a public address', '64:ff9b::8.8.8.8', '64:ff9b::808:808'],
] as const;

describe('the class of an address', () => {
  test.each(PRIVATE.flatMap(([name, ...list]) => list.map(one => [name, one] as const)))(
    '%s: %s is private',
    (_, address) => {
      expect(classOf(address)).toBe('private');
    },
  );

  test.each(PUBLIC.flatMap(([name, ...list]) => list.map(one => [name, one] as const)))(
    '%s: %s is public',
    (_, address) => {
      expect(classOf(address)).toBe('public');
    },
  );
});

describe('the machine itself', () => {
  test.each(['127.0.0.1', '127.9.9.9', '0.0.0.0', '::1', '::', '::ffff:127.0.0.1', '64:ff9b::7f00:1'])(
    '%s',
    address => {
      expect(isLoopback(address)).toBe(true);
    },
  );

  test.each(['10.0.0.1', '128.0.0.1', '::2', 'fe80::1', '8.8.8.8', 'localhost', ''])('not %s', address => {
    expect(isLoopback(address)).toBe(false);
  });
});
