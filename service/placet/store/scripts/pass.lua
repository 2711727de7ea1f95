-- Be done with all that a tenant's stream has, without reading it: nobody is to be told of it, as far as the
-- caller's epoch goes.
--
-- ARGV[3]  group         of the consumers of the stream
--
-- Answer   ok { ruling, now }

redis.call('XGROUP', 'SETID', tag .. 's', ARGV[3], '$')
return { 'ok', num(now) }
