//! A JavaScript object used as a map from role names to values.

use crate::json::JsString;
use crate::json::value::array_index;
use std::collections::HashMap;

/// The own members of such an object. Setting, removing and looking up take constant time.
pub struct Roles<T> {
    members: HashMap<JsString, (u64, T)>,
    next: u64,
}

impl<T> Default for Roles<T> {
    fn default() -> Self {
        Roles { members: HashMap::new(), next: 0 }
    }
}

impl<T> Roles<T> {
    /// `object[role] = value`. The role `__proto__` sets the prototype instead, which leaves no member.
    pub fn set(&mut self, role: &JsString, value: T) {
        if *role == "__proto__" {
            return;
        }
        if let Some((_, slot)) = self.members.get_mut(role) {
            *slot = value;
            return;
        }
        self.members.insert(role.clone(), (self.next, value));
        self.next += 1;
    }
    /// `delete object[role]`
    pub fn remove(&mut self, role: &JsString) {
        self.members.remove(role);
    }
    /// The own member.
    pub fn get(&self, role: &JsString) -> Option<&T> {
        self.members.get(role).map(|(_, value)| value)
    }
    /// True when the own member exists.
    pub fn has(&self, role: &JsString) -> bool {
        self.members.contains_key(role)
    }
    /// The members in JavaScript's order.
    pub fn in_order(&self) -> Vec<(&JsString, &T)> {
        let mut members: Vec<_> = self.members.iter().collect();
        members.sort_by_key(|(_, (number, _))| *number);
        let mut members: Vec<_> = members.into_iter().map(|(role, (_, value))| (role, value)).collect();
        order_keys(&mut members, |(role, _)| role);
        members
    }
}

/// Moves array-index keys, ascending, before the others, which keep their order.
pub fn order_keys<M>(members: &mut [M], key: impl Fn(&M) -> &JsString) {
    members.sort_by_key(|member| array_index(key(member).as_bytes()).map_or(u64::from(u32::MAX), u64::from));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removed_role_comes_back_at_the_end_and_index_keys_come_first() {
        let mut roles = Roles::default();
        for role in ["a", "b", "10", "2"] {
            roles.set(&role.into(), 0);
        }
        roles.set(&"a".into(), 1);
        roles.remove(&"a".into());
        roles.set(&"a".into(), 2);
        roles.set(&"__proto__".into(), 3);
        let order: Vec<String> = roles.in_order().into_iter().map(|(role, value)| format!("{role}{value}")).collect();
        assert_eq!(order, ["20", "100", "b0", "a2"]);
    }
}
